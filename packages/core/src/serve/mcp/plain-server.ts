// The package answers params that do not fit with a dump of its schema, as an internal error: here in words.
import { type JSONRPCMessage, ProtocolErrorCode, Server, type Transport } from '@modelcontextprotocol/server'
import { isRecord, itemsOf, parseJson } from '../../util/json/json.ts'

const DUMP = /\[\s*\{[^]*\}\s*\]$/

export class PlainServer extends Server {
  override connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => send(inWords(message), options)
    return super.connect(transport)
  }
}

function inWords(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  const issues = itemsOf(parseJson(DUMP.exec(message.error.message)?.[0] ?? ''))
  const told = issues.flatMap((issue) =>
    isRecord(issue) && Array.isArray(issue['path']) ? `${issue['path'].join('.')}: ${String(issue['message'])}` : [],
  )
  if (told.length === 0) return message
  return { ...message, error: { code: ProtocolErrorCode.InvalidParams, message: `Invalid ${told.join('; ')}` } }
}
