// YAML, for Goose. Loaded only when there is such a file.
import { parseDocument } from 'yaml'
import type { Parsed } from './parsed.ts'
import { placeOf } from './parsed.ts'

export function parseYaml(text: string): Parsed {
  // Its warnings would go to stderr and quote the file.
  const yaml = parseDocument(text, { logLevel: 'error' })
  const [first] = yaml.errors
  if (first !== undefined) return { reason: `is not valid YAML: ${first.code} ${placeOf(text, first.pos[0])}` }
  try {
    return { value: yaml.toJS() as unknown }
  } catch {
    // Aliases that refer to each other so often that the values would fill the memory.
    return { reason: 'has YAML aliases that cannot be resolved' }
  }
}
