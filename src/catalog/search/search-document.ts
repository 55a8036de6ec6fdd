// What the search reads of a tool. Pure.
import type { CatalogTool } from '../catalog-tool.ts'
import { flattened, isRecord, propertiesOf, type Schema } from '../signature/json-schema.ts'
import type { SearchDocument } from './postings.ts'
import { words } from './tokenize.ts'

const MAX_PARAMETERS = 40
const MAX_NAME = 80
const MAX_DESCRIPTION = 600
/** Parameters beyond this many characters of descriptions are found by their names only. */
const MAX_PARAMETER_TEXT = 240

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
  const { names, descriptions } = parameterWords(definition.inputSchema)
  return {
    server: tool.server,
    name: tool.name.slice(0, 200),
    title: stringOf(definition.title) || stringOf(definition.annotations?.title),
    summary: text.slice(0, end),
    description: text.slice(end),
    parameters: names,
    parameterDescriptions: descriptions,
    safety: safetyOf(tool),
  }
}

/** 1 for a tool that only reads, -1 for one that destroys; from its annotations, else from its name. Only ever used to order results. */
function safetyOf({ definition, name }: CatalogTool): number {
  const { readOnlyHint, destructiveHint } = definition.annotations ?? {}
  const parts = words(name)
  if (parts.some((word) => DESTROYING.has(word))) return -1
  if (readOnlyHint === true) return 1
  if (destructiveHint === true && readOnlyHint !== false) return -1
  return parts.some((word) => READING.has(word)) ? 1 : 0
}

function parameterWords(inputSchema: unknown): { names: string[]; descriptions: string } {
  const names: string[] = []
  if (!isRecord(inputSchema)) return { names, descriptions: '' }
  let descriptions = ''
  let count = 0
  for (const [name, property] of propertiesOf(flattened(inputSchema, inputSchema))) {
    if ((count += 1) > MAX_PARAMETERS) break
    names.push(name.slice(0, MAX_NAME))
    if (descriptions.length > MAX_PARAMETER_TEXT || !isRecord(property)) continue
    // An enum tells what a tool can do as well as a name does.
    descriptions += choicesOf(property)
    const description = property['description']
    if (typeof description === 'string') descriptions += ` ${description.slice(0, 60)}`
  }
  return { names, descriptions }
}

function choicesOf(property: Schema): string {
  const choices = property['enum']
  if (!Array.isArray(choices)) return ''
  const short = choices.slice(0, 12).filter((choice) => typeof choice === 'string' && choice.length <= 30)
  return ` ${short.join(' ')}`
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
