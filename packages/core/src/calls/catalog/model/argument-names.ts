// The names that a schema gives at any depth. Any other name in a call is data, which the caller chose. Pure.
import { isRecord } from '../../../util/json/json.ts'

const MAX_NODES = 20_000

const found = new WeakMap<object, (name: string) => boolean>()

/** Whether the schema has a property of this name, at any depth. */
export function namesOf(schema: unknown): (name: string) => boolean {
  if (!isRecord(schema)) return () => false
  let isNamed = found.get(schema)
  if (!isNamed) {
    const names = propertyNames(schema)
    found.set(schema, (isNamed = (name) => names.has(name)))
  }
  return isNamed
}

function propertyNames(schema: object): Set<string> {
  const names = new Set<string>()
  const open: unknown[] = [schema]
  for (let count = 0; open.length > 0 && count < MAX_NODES; count += 1) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties' && isRecord(value)) for (const name of Object.keys(value)) names.add(name)
      open.push(value)
    }
  }
  return names
}
