// Lists in the files of some clients that name the only servers which they start, and those that they never start.
import { type ConfigObject } from '@sandbridge/core/config/formats'
import type { Edit } from '@sandbridge/shared/edits/edit-document.ts'
import { fieldsOf, valueAt } from '@sandbridge/core/util/json/json.ts'
import { BRIDGE_NAME, type Target } from './targets.ts'

/** Adds the bridge to a client's list of the only servers that it starts; undefined when it has no need to. */
export function allowingEdit({ lists }: Target, document: ConfigObject): Edit | undefined {
  if (lists === undefined) return undefined
  const allowed = valueAt(document, ...lists.allowed)
  if (!Array.isArray(allowed) || allowed.includes(BRIDGE_NAME)) return undefined
  return { path: lists.allowed, value: [...(allowed as unknown[]), BRIDGE_NAME] }
}

export function isExcluded({ lists }: Target, document: ConfigObject): boolean {
  const excluded = lists && valueAt(document, ...lists.excluded)
  return Array.isArray(excluded) && excluded.includes(BRIDGE_NAME)
}

/** A copy of a document that has another value at a path. */
export function withValue(document: ConfigObject, { path: keys, value }: Edit): ConfigObject {
  const [key = '', ...rest] = keys
  return { ...document, [key]: rest.length === 0 ? value : withValue(fieldsOf(document[key]), { path: rest, value }) }
}
