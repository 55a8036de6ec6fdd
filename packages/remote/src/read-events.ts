// Reads the events of a stream (WHATWG HTML, server-sent events) as leniently as other text of a server, and passes on
// events that the MCP client package understands. Pure.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import {
  type Awaited,
  type OnDropped,
  quote,
  type Reading,
  readText,
  unreadable,
} from '@sandbridge/core/upstream/reading'

const LF = 0x0a
/** A closing brace. */
const CLOSED = 0x7d

export interface EventReader {
  open: Awaited
  onDropped: OnDropped
  /** Takes an error for a request that an event seems to answer, where a better answer may follow. */
  onDoubtful: (message: JSONRPCMessage) => void
}

/** @param chunks lines that end with LF, as `wholeLines` yields them */
export async function* readEvents(chunks: AsyncIterable<Buffer>, reader: EventReader): AsyncGenerator<Buffer> {
  const { open, onDropped, onDoubtful } = reader
  /** The answer of the stream's own request when nothing better follows. */
  let otherwise: JSONRPCMessage | undefined
  let isResumable = false
  for await (const { lines, isEnded } of events(chunks)) {
    const { data = '', name, isPlain, rest } = fieldsOf(lines)
    isResumable ||= rest.some((line) => line.toString('latin1', 0, 3) === 'id:')
    const isOther = data.trim() === '' || name === 'endpoint'
    const { messages, doubtful, isAsSent } = isOther ? NOTHING : readText(data, open, onDropped)
    doubtful.forEach(onDoubtful)
    if (open.isExchange) otherwise = doubtful[0] ?? otherwise
    // The package takes no list.
    const isUsual = isAsSent && isPlain && !data.trimStart().startsWith('[')
    if (messages.length > 0 && !isUsual) yield written(messages, rest)
    else {
      const own = messages.length === 0 && !isOther && open.isExchange ? open.only() : undefined
      if (own !== undefined)
        otherwise = doubtful[0] ?? unreadable(own, `the response ended without a reply. It had: ${quote(data)}`)
      // An event that no blank line ends is none, unless it is a message.
      if (doubtful.length === 0 && (isEnded || messages.length > 0)) yield Buffer.concat([...lines, EVENT_END])
    }
  }
  if (otherwise && !isResumable && open.methodOf(open.only()) !== undefined) yield written([otherwise], [])
}

const NOTHING: Reading = { messages: [], doubtful: [], isAsSent: true, hasMore: false }
const EVENT_END = Buffer.from('\n')

/** The lines of each event with their ends, without the blank one. */
async function* events(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ lines: Buffer[]; isEnded: boolean }> {
  let lines: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      if (end > from) lines.push(chunk.subarray(from, end + 1))
      else {
        yield { lines, isEnded: true }
        lines = []
      }
      from = end + 1
    }
    if (from < chunk.length) lines.push(Buffer.concat([chunk.subarray(from), EVENT_END]))
    // Some servers leave out the blank line and keep the stream open: a whole message needs no end.
    else if (isWhole(lines)) {
      yield { lines, isEnded: true }
      lines = []
    }
  }
  if (lines.length > 0) yield { lines, isEnded: false }
}

/** One line of data with a JSON object in it. */
function isWhole(lines: readonly Buffer[]): boolean {
  const [only, ...others] = lines.filter((line) => line.toString('latin1', 0, 5) === 'data:')
  return (
    only !== undefined &&
    others.length === 0 &&
    lines.at(-1) === only &&
    only.at(-2) === CLOSED &&
    isRecord(parseJson(only.toString('utf8', 5)))
  )
}

interface Fields {
  name: string | undefined
  data: string | undefined
  /** It has no name of its own, and its data where data belongs. */
  isPlain: boolean
  /** Lines with an id, a delay, or a comment. */
  rest: Buffer[]
}

/** JSON without its field, or whose field is indented or in capitals. */
const ODD_DATA = /^\s*(?:data\s*:\s*)?(?=[{[])/i

function fieldsOf(lines: readonly Buffer[]): Fields {
  let name: string | undefined
  const data: string[] = []
  const json: string[] = []
  const rest: Buffer[] = []
  for (const line of lines) {
    const head = line.toString('latin1', 0, 6)
    if (head.startsWith('data:')) data.push(line.toString('utf8', head[5] === ' ' ? 6 : 5, line.length - 1))
    else if (head === 'event:') name = line.toString('utf8', 6, line.length - 1).trim()
    else if (ODD_DATA.test(line.toString())) json.push(line.toString().replace(ODD_DATA, ''))
    else if (head.trim() !== 'data' && head.trim() !== 'event') rest.push(line)
  }
  const texts = data.length > 0 ? data : json
  const isPlain = data.length > 0 && (name === undefined || name === 'message')
  return { name, data: texts.length > 0 ? texts.join('\n') : undefined, isPlain, rest }
}

function written(messages: readonly JSONRPCMessage[], rest: readonly Buffer[]): Buffer {
  const data = messages.map((message) => Buffer.from(`data: ${JSON.stringify(message)}\n\n`))
  return Buffer.concat([...rest, ...data])
}
