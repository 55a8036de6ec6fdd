// YAML, for Goose. Loaded only when there is such a file. Pure.
import { parseDocument, visit } from 'yaml'
import type { Parsed } from '../config-document.ts'

export function parseYaml(text: string): Parsed {
  // Its warnings would go to stderr and quote the file.
  const yaml = parseDocument(text, { logLevel: 'error' })
  const [first] = yaml.errors
  if (first !== undefined) return { reason: `is not valid YAML: ${first.code}`, offset: first.pos[0] }
  let isCyclic = false
  visit(yaml, {
    // An alias can only name what began before it, so that a circle needs one that names what it is in.
    Alias: (_key, alias, within) => {
      const meant = alias.resolve(yaml)
      isCyclic ||= meant !== undefined && within.includes(meant)
    },
  })
  if (isCyclic) return { reason: 'has a YAML alias that leads back to itself' }
  try {
    return { value: yaml.toJS() as unknown }
  } catch {
    // Aliases that refer to each other so often that the values would fill the memory.
    return { reason: 'has YAML aliases that cannot be resolved' }
  }
}
