// Parses YAML, for Goose. Loaded only when such a file exists. Pure.
import { parseDocument, visit } from 'yaml'
import type { Parsed } from './parsed.ts'

export function parseYaml(text: string): Parsed {
  // Warnings would go to stderr and quote the file.
  const yaml = parseDocument(text, { logLevel: 'error' })
  const [first] = yaml.errors
  if (first !== undefined) return { reason: `is not valid YAML: ${first.code}`, offset: first.pos[0] }
  let isCyclic = false
  visit(yaml, {
    // An alias can only refer to an earlier anchor, so a cycle needs an alias inside the node that it refers to.
    Alias: (_key, alias, within) => {
      const meant = alias.resolve(yaml)
      isCyclic ||= meant !== undefined && within.includes(meant)
    },
  })
  if (isCyclic) return { reason: 'has a YAML alias that leads back to itself' }
  try {
    return { value: yaml.toJS() as unknown }
  } catch {
    // Nested aliases could expand to values that fill the memory.
    return { reason: 'has YAML aliases that cannot be resolved' }
  }
}
