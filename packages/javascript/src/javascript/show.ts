// Formats values for a cell's result.
import util from 'node:util'
import { Media, mediaIn } from './media.ts'

const MAX_CHARS = 8_000_000
const MAX_JSON_CHARS = 200_000
const MAX_MEDIA = 21
const OPTIONS = { depth: 10, maxArrayLength: 10_000, maxStringLength: 1_000_000, breakLength: 120, compact: 3 }

export interface Shown {
  'text/plain': string
  [mime: string]: unknown
}

/** Returns the MIME bundle of a value; undefined for null and undefined. */
export function bundle(value: unknown, withJson: boolean): Shown | undefined {
  if (value === undefined || value === null) return undefined
  const shown: Shown = { 'text/plain': bounded(util.inspect(value, OPTIONS)) }
  if (value instanceof Media) shown[value.mimeType] = value.data.toString('base64')
  else if (withJson) {
    const plain = json(value)
    if (plain !== undefined) shown['application/json'] = plain
  }
  return shown
}

/** Returns media within a value, to show beside its text. */
export function mediaBeside(value: unknown): [mime: string, data: string][] {
  if (value instanceof Media) return []
  return mediaIn(value, MAX_MEDIA).map(({ mimeType, data }) => [mimeType, data.toString('base64')])
}

function bounded(text: string): string {
  if (text.length <= MAX_CHARS) return text
  const half = MAX_CHARS / 2
  return `${text.slice(0, half)}\n… ${text.length - MAX_CHARS} characters left out …\n${text.slice(-half)}`
}

function json(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return undefined
  try {
    const text = JSON.stringify(value)
    return text.length <= MAX_JSON_CHARS ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
