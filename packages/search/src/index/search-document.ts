// Extracts the searched texts of a tool. Pure.
import type { CatalogTool } from '@sandbridge/core/calls/catalog'
import type { SearchDocument } from './fields.ts'
import { words } from './tokenize.ts'
import { members, propertiesOf, resolve } from '@sandbridge/core/calls/catalog'
import { isRecord } from '@sandbridge/core/util/json/json.ts'

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
  const { names, nested, texts } = new ParameterWords(definition.inputSchema)
  return {
    server: tool.server,
    name: tool.name.slice(0, 200),
    title: stringOf(definition.title) || stringOf(definition.annotations?.title),
    summary: text.slice(0, end),
    description: text.slice(end),
    parameters: [...names],
    nestedParameters: [...nested],
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

const MAX_DEPTH = 6
const MAX_NAMES = 300
/** Limit of schemas read, including those without names. */
const MAX_SCHEMAS = 1000
const MAX_NAME = 80
const MAX_TEXT = 200
const MAX_TEXTS = 4000
const MAX_CHOICES = 40
const MAX_RESOLVING = 10_000

class ParameterWords {
  /** Names of the parameters themselves. */
  readonly names = new Set<string>()
  /** Names of the properties inside them. */
  readonly nested = new Set<string>()
  /** Descriptions and allowed values of all. */
  readonly texts: string[] = []
  readonly #root: unknown
  #schemas = 0
  /** Steps left for the references of all. */
  readonly #resolving = { left: MAX_RESOLVING }
  /** Characters of text left to read. */
  #left = MAX_TEXTS

  constructor(root: unknown) {
    this.#root = root
    this.#read(root, 0)
  }

  /** @param depth the number of properties and lists around the schema */
  #read(value: unknown, depth: number): void {
    this.#schemas += 1
    if (depth > MAX_DEPTH || this.#schemas > MAX_SCHEMAS || !isRecord(value)) return
    const schema = resolve(value, this.#root, this.#resolving)
    if (depth > 0) {
      this.#say(schema['description'])
      this.#say(schema['const'])
      const choices = schema['enum']
      if (Array.isArray(choices)) this.#say(choices.slice(0, MAX_CHOICES).filter(isName).join(' '))
    }
    const properties = propertiesOf(schema)
    this.#schemas += properties.length >> 5
    for (const [name, property] of properties) {
      if (this.names.size + this.nested.size >= MAX_NAMES) break
      if (depth === 0) this.names.add(name.slice(0, MAX_NAME))
      else this.nested.add(name.slice(0, MAX_NAME))
      this.#read(property, depth + 1)
    }
    this.#read(schema['items'], depth + 1)
    this.#read(schema['additionalProperties'], depth + 1)
    for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
      for (const member of members(schema, keyword)) this.#read(member, depth === 0 ? 0 : depth + 1)
    }
  }

  #say(text: unknown): void {
    if (typeof text !== 'string' || text === '' || this.#left <= 0) return
    const read = text.slice(0, Math.min(MAX_TEXT, this.#left))
    this.texts.push(read)
    this.#left -= read.length + 1
  }
}

function isName(choice: unknown): boolean {
  return typeof choice === 'string' && choice.length <= 40
}
