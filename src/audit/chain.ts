// How lines of the record hang together: each holds the hash of the one before, and its own over all that it says. Pure.
import { hash as digest } from 'node:crypto'

/** The `prev` of the first line of a bridge. */
export const NO_LINE = '0'.repeat(64)

const HASH_FIELD = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/s

/** What a line must have besides what it tells. */
export interface Link {
  /** Counts the lines of one bridge, from 1. */
  n: number
  prev: string
}

/** @param fields the JSON of an object with some fields, none of them `n`, `prev` or `hash` @returns the line, without its end, and its hash */
export function linkLine(fields: string, { n, prev }: Link): { line: string; hash: string } {
  const body = `{"n":${n},${fields.slice(1, -1)},"prev":"${prev}"}`
  const hash = digest('sha256', body)
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, hash }
}

/** A line of a file as it is read back. */
export interface ReadLine {
  fields: Readonly<Record<string, unknown>>
  n: number
  prev: string
  hash: string
  /** The hash is that of what the line says. */
  isIntact: boolean
}

/** Undefined for what no line of a record is. */
export function readLine(line: string): ReadLine | undefined {
  const [, body, hash] = HASH_FIELD.exec(line) ?? []
  if (body === undefined || hash === undefined) return undefined
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(`${body}}`) as Record<string, unknown>
  } catch {
    return undefined
  }
  const { n, prev } = fields
  if (typeof n !== 'number' || typeof prev !== 'string') return undefined
  const isIntact = digest('sha256', `${body}}`) === hash
  return { fields, n, prev, hash, isIntact }
}
