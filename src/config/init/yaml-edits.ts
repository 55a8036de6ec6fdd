// Loaded only when YAML is edited.
import type { Document } from 'yaml'
import { parseDocument } from 'yaml'

/** Quiet, since a warning would quote the file. */
export function parseYamlDocument(text: string): Document {
  return parseDocument(text, { logLevel: 'error' })
}
