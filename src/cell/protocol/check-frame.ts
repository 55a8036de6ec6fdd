// Checks whether a JSON value is a valid frame of a kernel. Hand-written because every tool call passes through it.
// frame-schemas.ts defines the same rules, and a test compares the two. Pure.
import type { CallFrame, DoneFrame, KernelFrame, MimeBundle } from './frames.ts'
import { isRecord } from '../../util/json/json.ts'
import { MAX_BUNDLE_KEYS, MAX_NOTES } from './limits.ts'

/** Limit for the name of a method, a version, a platform. */
const MAX_WORD_CHARS = 100

type Fields = Record<string, unknown>

/** Returns the frame with its known fields, or the reason it is invalid. */
export function checkFrame(json: unknown): KernelFrame | string {
  if (!isRecord(json)) return 'not an object'
  switch (json['type']) {
    case 'call':
      return call(json)
    case 'output':
      return output(json)
    case 'display':
      return display(json)
    case 'cancel':
      return isCount(json['id'], 1) ? { type: 'cancel', id: json['id'] } : NO_ID
    case 'progress':
      return progress(json)
    case 'done':
      return done(json)
    case 'ready':
      return ready(json)
    default:
      return 'type: not one that a kernel sends'
  }
}

const NO_ID = 'id: not a positive integer'
const NO_CELL = 'cell: not an integer from 0'

function call({ id, cell, method, params }: Fields): CallFrame | string {
  if (!isCount(id, 1)) return NO_ID
  if (!isCount(cell, 0)) return NO_CELL
  if (!isWord(method)) return `method: not a text of at most ${MAX_WORD_CHARS} characters`
  if (params === undefined) return 'params: missing'
  return { type: 'call', id, cell, method, params }
}

function output({ cell, stream, text }: Fields): KernelFrame | string {
  if (!isCount(cell, 0)) return NO_CELL
  if (stream !== 'stdout' && stream !== 'stderr') return 'stream: neither stdout nor stderr'
  return typeof text === 'string' ? { type: 'output', cell, stream, text } : 'text: not a text'
}

function display({ cell, data }: Fields): KernelFrame | string {
  if (!isCount(cell, 0)) return NO_CELL
  const bundle = bundleOf(data)
  return typeof bundle === 'string' ? `data: ${bundle}` : { type: 'display', cell, data: bundle }
}

function progress({ cell, done: reached, total, message }: Fields): KernelFrame | string {
  if (!isCount(cell, 0)) return NO_CELL
  if (!isNumber(reached)) return 'done: not a number'
  if (total !== undefined && !isNumber(total)) return 'total: not a number'
  if (message !== undefined && typeof message !== 'string') return 'message: not a text'
  return {
    type: 'progress',
    cell,
    done: reached,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message }),
  }
}

function done({ cell, status, value, error, notes, uninterrupted }: Fields): DoneFrame | string {
  if (!isCount(cell, 0)) return NO_CELL
  if (status !== 'ok' && status !== 'error' && status !== 'interrupted') return 'status: not a known one'
  const frame: DoneFrame = { type: 'done', cell, status }
  if (value !== undefined) {
    const bundle = bundleOf(value)
    if (typeof bundle === 'string') return `value: ${bundle}`
    frame.value = bundle
  }
  if (error !== undefined) {
    const checked = errorOf(error)
    if (typeof checked === 'string') return checked
    frame.error = checked
  }
  if (notes !== undefined) {
    if (!Array.isArray(notes)) return 'notes: not a list'
    if (notes.length > MAX_NOTES) return `notes: more than ${MAX_NOTES} items`
    if (!notes.every((note) => typeof note === 'string')) return 'notes: an item is not a text'
    frame.notes = notes
  }
  if (uninterrupted !== undefined) {
    if (typeof uninterrupted !== 'boolean') return 'uninterrupted: not a boolean'
    frame.uninterrupted = uninterrupted
  }
  return frame
}

function errorOf(error: unknown): NonNullable<DoneFrame['error']> | string {
  if (!isRecord(error)) return 'error: not an object'
  const { name, message, traceback, values, hint, search } = error
  if (typeof name !== 'string' || typeof message !== 'string' || typeof traceback !== 'string')
    return 'error: name, message or traceback is not a text'
  if (!isOptionalText(values) || !isOptionalText(hint) || !isOptionalText(search))
    return 'error: values, hint or search is not a text'
  return {
    name,
    message,
    traceback,
    ...(values !== undefined && { values }),
    ...(hint !== undefined && { hint }),
    ...(search !== undefined && { search }),
  }
}

function ready({ protocol, python, platform }: Fields): KernelFrame | string {
  if (!isCount(protocol, Number.MIN_SAFE_INTEGER)) return 'protocol: not an integer'
  if (!isWord(python) || !isWord(platform)) return `python, platform: not texts of at most ${MAX_WORD_CHARS} characters`
  return { type: 'ready', protocol, python, platform }
}

function bundleOf(value: unknown): MimeBundle | string {
  if (!isRecord(value)) return 'not an object'
  if (Object.keys(value).length > MAX_BUNDLE_KEYS) return `more than ${MAX_BUNDLE_KEYS} MIME types`
  // JSON.parse creates an ordinary key, but code that copies the bundle by assignment would set the prototype.
  delete value['__proto__']
  return value
}

function isCount(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_WORD_CHARS
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}
