// Exchanges messages with the kernel as lines of JSON, and tracks the calls that wait for replies.
import { errorFrom, type ErrorReply, MCPError } from './errors.ts'
import { inOrder, parseExact } from '@sandbridge/core/util/json'
import { withMedia } from './media.ts'

export interface RunMessage {
  type: 'run'
  cell: number
  code: string
  cwd: string
  /** Servers that the cell can reach; missing if unchanged. */
  servers?: { alias: string; name: string }[]
  /** With the servers: the functions of Python's `runtime`. */
  functions?: string[]
  /** Also return the value as JSON. */
  json?: boolean
}

interface ReplyMessage {
  type: 'reply'
  id: number
  value?: unknown
  /** What a tool returned beside the value. */
  beside?: Record<string, unknown>
  error?: ErrorReply
  /** Prefix of placeholders in the value: this mark, then an index into `media`. */
  mark?: string
  media?: { data: string; mime?: string }[]
}

type Told = RunMessage | { type: 'interrupt' } | { type: 'ping' }

interface Open {
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
  stack: string
  /** Undefined once it is sent. */
  line: string | undefined
}

const MAX_CHARS = 60 << 20
/** Begins the text that stands for a BigInt in JSON. */
const MARK = `bigint ${Math.random()}:`
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

export class Link {
  readonly #write: (line: string) => void
  readonly #open = new Map<number, Open>()
  readonly #calls = new WeakMap<object, Open>()
  #count = 0
  #whenIdle: (() => void) | undefined
  /** True while calls are allowed. */
  isOpen = false

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  send(message: Record<string, unknown>): void {
    this.#write(JSON.stringify(message))
  }

  /** Handles a line from the kernel. Settles a reply and returns undefined; returns any other message. */
  receive(line: string): Told | undefined {
    const message = parsed(line)
    if (message?.type !== 'reply') return message
    this.#settle(message)
    return undefined
  }

  /** Sends a request to the kernel. Rejects with an MCPError if it is refused. */
  ask(message: Record<string, unknown>): Promise<unknown> {
    if (!this.isOpen) return Promise.reject(new MCPError('No cell is running, and only a running cell can make calls'))
    const id = (this.#count += 1)
    let line: string
    try {
      line = JSON.stringify({ ...message, id }, plain).replaceAll(MARKED, '$1')
    } catch (error) {
      return Promise.reject(unsendable(error))
    }
    if (line.length > MAX_CHARS) return Promise.reject(unsendable(new RangeError('they are too large')))
    const { stack = '' } = new Error('here')
    return this.#begun(new Promise((resolve, reject) => this.#open.set(id, { resolve, reject, stack, line })), id)
  }

  /** Sends it after this turn: `again` may follow. */
  #begun(call: Promise<unknown>, id: number): Promise<unknown> {
    const open = this.#open.get(id)!
    this.#calls.set(call, open)
    void Promise.resolve().then(() => {
      if (this.#open.has(id)) this.#write(open.line!)
      open.line = undefined
    })
    return call
  }

  /** Marks a call that was just begun as one that may have been made before. */
  again(call: unknown): unknown {
    const open = this.#calls.get(call as object)
    if (open?.line === undefined)
      throw new MCPError('runtime.again takes the call itself: await runtime.again(mcp_mail.send({ to: "a" }))')
    open.line = `{"again":true,${open.line.slice(1)}`
    return call
  }

  get hasOpen(): boolean {
    return this.#open.size > 0
  }

  async idle(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve))
  }

  /** Drops open calls: the cell has ended. */
  abandon(): void {
    this.isOpen = false
    this.#open.clear()
  }

  #settle({ id, value, beside = {}, error, mark, media }: ReplyMessage): void {
    const open = this.#open.get(id)
    if (!open) return
    this.#open.delete(id)
    if (error) open.reject(errorFrom(error, open.stack))
    else {
      const read = (one: unknown): unknown => (mark !== undefined && media ? withMedia(one, mark, media) : one)
      open.resolve(withBeside(read(value), read(beside) as Record<string, unknown>))
    }
    if (this.#open.size === 0) this.#whenIdle?.()
  }
}

/** The value with properties that are not listed with its own; a text has no room for them. */
function withBeside(value: unknown, beside: Record<string, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const [name, more] of Object.entries(beside))
    if (!Object.hasOwn(value, name)) Object.defineProperty(value, name, { value: more })
  return value
}

/**
 * Undefined for the rest of a line whose start was lost in an interrupt.
 * @throws InternalError out of memory
 */
function parsed(line: string): Told | ReplyMessage | undefined {
  try {
    return parseExact(line) as Told | ReplyMessage
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * Converts values with one obvious JSON form that JSON.stringify does not support.
 * @throws TypeError for what it would send as something else
 */
function plain(this: Record<string, unknown>, key: string, value: unknown): unknown {
  if (typeof value === 'number') checkNumber(key, value)
  if (value instanceof Map) return inOrder(new Map([...value].map(([name, one]) => [String(name), one])))
  if (value instanceof Set) return [...value]
  // What it was before its toJSON, which a Buffer has.
  const given = this[key]
  const hint = insteadOf(given)
  if (hint !== undefined)
    throw new TypeError(`${Object(given).constructor.name} in '${key}' has no form in JSON: ${hint}`)
  if (ArrayBuffer.isView(given)) return Array.from(given as unknown as Iterable<unknown>)
  if (given instanceof Date && Number.isNaN(given.getTime()))
    throw new TypeError(`an invalid Date in '${key}' has no form in JSON: send null for what is missing`)
  return typeof given === 'bigint' ? `${MARK}${given}` : value
}

/** What to send in place of what JSON.stringify would leave out, or send as something else. */
function insteadOf(given: unknown): string | undefined {
  const isBytes = given instanceof Uint8Array || given instanceof ArrayBuffer || given instanceof DataView
  if (isBytes) return "send its .toString('base64') or [...its numbers]"
  if (given instanceof Error) return 'send its message'
  if (given instanceof Promise) return 'await it'
  if (given instanceof RegExp) return 'send its source'
  if (typeof given === 'function') return 'call it'
  return typeof given === 'symbol' ? 'send its description' : undefined
}

function checkNumber(key: string, value: number): void {
  if (!Number.isFinite(value))
    throw new TypeError(`${value} in '${key}' has no form in JSON: send null for what is missing`)
  // A round number such as 1e20 is an amount. Above 1e21, JavaScript writes no integer any more.
  const isLong =
    Number.isInteger(value) && Math.abs(value) < 1e21 && /[1-9]\d{15}/.test(String(value).replace(/0+$/, ''))
  if (isLong && !Number.isSafeInteger(value)) {
    throw new TypeError(
      `the integer ${value} in '${key}' is beyond 2**53, where JavaScript rounds: write it as a BigInt, ${value}n, or as a string`,
    )
  }
}

function unsendable(error: unknown): MCPError {
  return errorFrom({
    name: 'ArgumentsError',
    code: 'PROXY_ARGUMENTS_INVALID',
    message: `The arguments cannot be sent as JSON: ${error instanceof Error ? error.message : 'unknown'}`,
    hint: 'Send strings, numbers, booleans, null, arrays and plain objects.',
  })
}
