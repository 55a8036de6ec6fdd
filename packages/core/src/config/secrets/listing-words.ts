// Cleans what a server lists before it is kept: removes hidden text and values of its definition.
import type { RemoteServer, StdioServer } from '../entries/server-definition.ts'
import { createRedactor } from './redact.ts'
import { cleanWords } from '../../util/text/server-words.ts'

export type ListingCleaner = <T>(listed: T) => T

/** Fields that people and models read. */
const WORDS = new Set(['title', 'description', 'instructions'])
/** Fields with names for the server or keywords of JSON Schema: they stay unchanged. */
const NAMES = new Set('name uri uriTemplate type required enum const pattern format $ref $id'.split(' '))
/** A variable with a value like `info` or 8080 is not a secret, and descriptions contain many such words. */
const ORDINARY = /^(?:[a-z]{1,15}|\d{1,6})$/i
const MAX_DEPTH = 200

export function createListingCleaner(transport: StdioServer | RemoteServer): ListingCleaner {
  const redact = createRedactor(withoutPlaces(transport))
  const clean = (value: unknown, field: string, depth: number): unknown => {
    if (typeof value === 'string') {
      if (NAMES.has(field)) return value
      return redact(WORDS.has(field) ? cleanWords(value) : value)
    }
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_DEPTH) return undefined
    if (Array.isArray(value)) return value.map((item) => clean(item, field, depth + 1))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(item, key, depth + 1)]))
  }
  return <T>(listed: T) => clean(listed, 'instructions', 0) as T
}

/** A server may mention its folder or program: its tools could not be understood otherwise. */
function withoutPlaces(transport: StdioServer | RemoteServer): StdioServer | RemoteServer {
  const { secrets = [] } = transport
  if (transport.type !== 'stdio') return transport
  const env = Object.fromEntries(Object.entries(transport.env).filter(([, value]) => !ORDINARY.test(value)))
  return { type: 'stdio', command: '', args: [], env, secrets }
}
