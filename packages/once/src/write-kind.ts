// Which calls are journaled, and which of them their server itself makes only once. Pure.
import { type CatalogTool, violation } from '@sandbridge/core/calls/catalog'
import { soundsReadOnly } from '@sandbridge/core/config/rules'
import { fieldsOf } from '@sandbridge/core/util/json/json.ts'

/** What is known of a tool that may change something. */
export interface WriteKind {
  /** Made twice, it has the effect of once. */
  isIdempotent: boolean
  /** The argument by which its server recognises a call that it has carried out. */
  keyField: string | undefined
}

/** Names of such arguments, in lower case without separators. */
const KEY_NAMES = /^x?idempotency(key|token|id)$|^clientrequest(id|token)$/
/** Names that may mean something else: their description decides. */
const MAYBE_KEYS = /^(client|request)(token|id)$|^dedup/
const SAMPLE = '00000000-0000-4000-8000-000000000000'

const kinds = new WeakMap<CatalogTool, WriteKind | false>()

/** Undefined for a tool that only reads. */
export function writeKind(tool: CatalogTool): WriteKind | undefined {
  let kind = kinds.get(tool)
  if (kind === undefined) kinds.set(tool, (kind = kindOf(tool)))
  return kind || undefined
}

function kindOf({ name, definition, inputSchema }: CatalogTool): WriteKind | false {
  const { annotations } = definition
  if (soundsReadOnly(name, annotations)) return false
  return { isIdempotent: annotations?.idempotentHint === true, keyField: keyFieldOf(inputSchema) }
}

function keyFieldOf(schema: unknown): string | undefined {
  const fields = Object.entries(fieldsOf(fieldsOf(schema)['properties']))
  return fields.find(([name, field]) => {
    const plain = name.toLowerCase().replaceAll(/[-_ ]/g, '')
    const { description, pattern, maxLength } = fieldsOf(field)
    const isKey = KEY_NAMES.test(plain) || (MAYBE_KEYS.test(plain) && /idempoten/i.test(String(description)))
    const isFree = pattern === undefined && (typeof maxLength !== 'number' || maxLength >= SAMPLE.length)
    return isKey && isFree && violation(SAMPLE, field, schema, name) === undefined
  })?.[0]
}
