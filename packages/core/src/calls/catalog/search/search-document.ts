// Extracts the searched texts of a tool. Pure.
import type { CatalogTool } from '../model/catalog-tool.ts'
import type { SearchDocument } from './fields.ts'
import { parameterWords } from './parameter-words.ts'
import { words } from './tokenize.ts'

const MAX_DESCRIPTION = 3000

const READING = new Set(
  'get list read search find query show describe view fetch retrieve count check explain status lookup'.split(' '),
)
const DESTROYING = new Set(
  'delete remove drop erase destroy purge wipe kill terminate uninstall reset force truncate'.split(' '),
)

export function searchDocument(tool: CatalogTool): SearchDocument {
  const { definition } = tool
  const text = typeof definition.description === 'string' ? definition.description.slice(0, MAX_DESCRIPTION).trim() : ''
  const end = /[.!?]\s|\n/.exec(text)?.index ?? text.length
  const { names, nested, texts } = parameterWords(definition.inputSchema)
  return {
    server: tool.server,
    name: tool.name.slice(0, 200),
    title: stringOf(definition.title) || stringOf(definition.annotations?.title),
    summary: text.slice(0, end),
    description: text.slice(end),
    parameters: names,
    nestedParameters: nested,
    parameterTexts: texts,
    safety: safetyOf(tool),
  }
}

/** 1 for a read-only tool, -1 for a destructive one, by its annotations or else its name. Only orders results. */
function safetyOf({ definition, name }: CatalogTool): number {
  const { readOnlyHint, destructiveHint } = definition.annotations ?? {}
  const parts = words(name)
  if (parts.some((word) => DESTROYING.has(word))) return -1
  if (readOnlyHint === true) return 1
  if (destructiveHint === true && readOnlyHint !== false) return -1
  return parts.some((word) => READING.has(word)) ? 1 : 0
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
