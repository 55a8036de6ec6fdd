// The messages in the body of a request, read as those over stdio are. Pure.
import { type Refusal, toClientMessage } from '@sandbridge/core/serve'
import { type OnDropped, OpenRequests } from '@sandbridge/core/upstream/reading'
import { fieldsOf, isRecord } from '@sandbridge/core/util/json/json.ts'

/** What a server asks its client in between, which needs a stream of events. */
const QUESTIONS = new Set(['sampling', 'elicitation', 'roots', 'tasks'])

interface ClientBody {
  /** A message, or a batch of them. */
  messages: unknown
  /** The whole body is refused with the first that cannot be read. */
  refusal?: Refusal | undefined
}

export function readClientBody(body: unknown, onDropped: OnDropped): ClientBody {
  const open = new OpenRequests()
  const read = (Array.isArray(body) ? body : [body]).map((value) => ({
    value,
    ...toClientMessage(value, open, onDropped),
  }))
  const messages = read.map(({ message, value }) => message ?? value)
  return {
    messages: Array.isArray(body) ? messages : messages[0],
    refusal: read.find(({ refusal }) => refusal)?.refusal,
  }
}

/** The handshake of a client that reads no events: it cannot be asked anything. */
export function withoutQuestions(message: unknown): unknown {
  if (!isRecord(message) || message['method'] !== 'initialize') return message
  const params = fieldsOf(message['params'])
  const kept = Object.entries(fieldsOf(params['capabilities'])).filter(([name]) => !QUESTIONS.has(name))
  return { ...message, params: { ...params, capabilities: Object.fromEntries(kept) } }
}
