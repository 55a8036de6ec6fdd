// The lines of a client, over stdio or through its relay: batches, and requests that are not valid. Loads no MCP
// package, because a relay has none. Pure.
import { isRecord, parseJson } from '../util/json/json.ts'

/** Of one message. A longer one ends the connection. */
export const MAX_LINE_BYTES = 32 * 2 ** 20

/** The only revision with batches (MCP 2025-03-26, Base Protocol, Batching). */
const WITH_BATCHES = '2025-03-26'
const INVALID_REQUEST = -32_600
/** Where a line begins, which may be with white space. */
const HEAD_BYTES = 64

/** An error response. JSON-RPC 2.0 has the id null for what has none. */
interface Refusal {
  jsonrpc: '2.0'
  id: string | number | null
  error: { code: number; message: string }
}

interface Batch {
  messages: Record<string, unknown>[]
  /** What the client is answered at once. */
  refusals: Refusal[]
}

/**
 * Whether a client that sends this message may send batches from then on; undefined if it changes nothing. Every
 * revision with batches is one that the server supports, so that what the client asks for is what it gets.
 */
export function opensBatches({ method, params }: Record<string, unknown>): boolean | undefined {
  return method === 'initialize' ? isRecord(params) && params['protocolVersion'] === WITH_BATCHES : undefined
}

/**
 * Takes a batch apart. Each of its requests gets a response of its own: JSON-RPC recommends one array of all, but a
 * call that takes long would hold up the others.
 * @param isAllowed whether the client's revision has batches
 * @returns undefined for a line that is no batch
 */
export function openBatch(line: Buffer, isAllowed: boolean): Batch | undefined {
  if (!/^\s*\[/.test(line.toString('latin1', 0, HEAD_BYTES))) return undefined
  const batch = parseJson(line.toString())
  if (!Array.isArray(batch)) return undefined
  const messages = batch.filter(isRecord)
  if (isAllowed && batch.length > 0) {
    const isWhole = messages.length === batch.length
    return { messages, refusals: isWhole ? [] : [refusal(null, 'Invalid request: the batch holds more than objects')] }
  }
  const problem =
    batch.length === 0
      ? 'the batch is empty'
      : `only MCP ${WITH_BATCHES} has batches; send each message on its own line`
  const ids = messages.flatMap((one) => requestId(one) ?? [])
  return {
    messages: [],
    refusals: (ids.length > 0 ? ids : [null]).map((id) => refusal(id, `Invalid request: ${problem}`)),
  }
}

/** @returns what a client is answered whose request is not valid; undefined for what is no request with an id */
export function refusalOf(message: unknown): Refusal | undefined {
  const id = requestId(message)
  return id === undefined ? undefined : refusal(id, 'Invalid request: this is not a JSON-RPC request of MCP')
}

function refusal(id: Refusal['id'], message: string): Refusal {
  return { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message } }
}

function requestId(message: unknown): string | number | undefined {
  if (!isRecord(message) || typeof message['method'] !== 'string') return undefined
  const { id } = message
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : undefined
}
