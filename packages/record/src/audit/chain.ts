// Chains the lines of the record: each holds the hash of the line before it, and a hash of its own content. Pure.
import { hash as digest } from 'node:crypto'
import { fieldsOf, parseJson } from '@sandbridge/core/util/json/json.ts'

/** `prev` of a bridge's first line. */
export const NO_LINE = '0'.repeat(64)

const HASH_FIELD = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/s

/** Fields of every line that form the chain. */
export interface Link {
  /** Line number within one bridge, from 1. */
  n: number
  prev: string
}

/**
 * @param fields JSON of a non-empty object without `n`, `prev` and `hash`
 * @returns the line without its LF, and its hash
 */
export function linkLine(fields: string, { n, prev }: Link): { line: string; hash: string } {
  const body = `{"n":${n},${fields.slice(1, -1)},"prev":"${prev}"}`
  const hash = digest('sha256', body)
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, hash }
}

/** A line read from a file. */
export interface ReadLine {
  fields: Readonly<Record<string, unknown>>
  n: number
  prev: string
  hash: string
  /** The hash matches the content. */
  isIntact: boolean
}

/** Parses a line; undefined if it is not a line of a record. */
export function readLine(line: string): ReadLine | undefined {
  const [, body, hash] = HASH_FIELD.exec(line) ?? []
  if (body === undefined || hash === undefined) return undefined
  const fields = fieldsOf(parseJson(`${body}}`))
  const { n, prev } = fields
  if (typeof n !== 'number' || typeof prev !== 'string') return undefined
  const isIntact = digest('sha256', `${body}}`) === hash
  return { fields, n, prev, hash, isIntact }
}
