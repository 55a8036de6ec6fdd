// Learns result types from real results, for tools without an output schema. In some results the names of fields are
// data, and text of the server: see `resultsOf` in tool-docs.ts of the core. Bounded. Pure.
import {
  blocksOf,
  inBox,
  isMedia,
  MAX_SHAPE_DEPTH,
  type Shape,
  type Shapes,
  structuredOf,
} from '@sandbridge/core/calls/catalog'
import type { ToolResult } from '@sandbridge/core/upstream'
import { parsePythonLiteral } from '@sandbridge/core/util/text'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { columnsOf, jsonLines } from './text-columns.ts'

const MAX_KEYS = 32
const MAX_ITEMS = 25
const MAX_TEXT_LENGTH = 512 * 1024
/** As in values.py. */
const MAX_LITERAL_LENGTH = 256 * 1024
const MAX_BLOCKS = 25
const MAX_SHAPE_LENGTH = 6000

export const shapes: Shapes = {
  // Nothing new; most tools return plain text.
  of: (result, before) => (before?.type.includes('string') && isPlainText(result) ? undefined : shapeOfResult(result)),
  merged: mergeShapes,
}

/** The shape of the Python value of a result, as values.py makes it; undefined for errors and for very long texts. */
export function shapeOfResult(result: ToolResult): Shape | undefined {
  if (result.isError === true) return undefined
  const content = blocksOf(result.content)
  const structuredContent = structuredOf(result, false)
  if (structuredContent !== undefined)
    // The Python value has the media in place of what repeats them.
    return content.some(isMedia) ? undefined : shapeOfStructured(structuredContent)
  if (content.length === 0 || content.length > MAX_BLOCKS) return undefined
  const all = content.map(shapeOfBlock)
  if (!all.every((shape) => shape !== undefined)) return undefined
  return all.length === 1 ? all[0] : withinSize({ type: ['array'], items: all.reduce(merge) })
}

/** The shape of one content block; undefined for an invalid one, and for a text that is too long to read. */
function shapeOfBlock(block: unknown): Shape | undefined {
  if (isMedia(block)) return { type: ['Media'] }
  if (!isRecord(block)) return undefined
  const { type, text, resource } = block
  if (type === 'resource' && isRecord(resource)) {
    if (typeof resource['text'] === 'string') return { type: ['string'] }
    return typeof resource['blob'] === 'string' ? { type: ['bytes'] } : shapeOfValue(block)
  }
  if (type !== 'text' || typeof text !== 'string') return shapeOfValue(block)
  if (isJsonLike(text) && text.length > MAX_TEXT_LENGTH) return undefined
  return shapeOfParsed(text)
}

/** The kernel opens a box, parses a text in it, and gives a text its rows (values.py). */
function shapeOfStructured(value: unknown): Shape {
  const box = inBox(value)
  if (box === undefined) return shapeOfValue(value)
  const [, inside] = box
  const isRead = typeof inside === 'string' && inside.length <= MAX_TEXT_LENGTH
  return isRead ? shapeOfParsed(inside) : shapeOfValue(inside)
}

function shapeOfParsed(text: string): Shape {
  const value = parsed(text)
  return typeof value === 'string' ? shapeOfText(value) : shapeOfValue(value)
}

function shapeOfText(text: string): Shape {
  const objects = jsonLines(text)
  if (objects) return withinSize({ type: ['Text'], items: objects.map((one) => observe(one, 0)).reduce(merge) })
  const columns = columnsOf(text)
  if (!columns) return { type: ['string'] }
  // The first line of a text is often no header, but a person or a sentence.
  if (!columns.every(isFieldName)) return { type: ['Text'], items: { type: ['object'] } }
  const properties = Object.fromEntries(columns.map((name) => [name, { type: ['string'] }]))
  return withinSize({ type: ['Text'], items: { type: ['object'], properties, required: columns } })
}

/** Whether the value is a single text that is neither JSON nor a Python literal. */
function isPlainText({ content, structuredContent, isError }: ToolResult): boolean {
  if (isError === true || structuredContent != null || !Array.isArray(content) || content.length !== 1) return false
  const [block] = content
  return isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string' && !isJsonLike(block['text'])
}

function parsed(text: string): unknown {
  if (!isJsonLike(text)) return text
  return parseJson(text) ?? (text.length > MAX_LITERAL_LENGTH ? undefined : parsePythonLiteral(text)) ?? text
}

function isJsonLike(text: string): boolean {
  return /^\s*[[{(]/.test(text)
}

/** The shape that covers both. */
export function mergeShapes(one: Shape, other: Shape): Shape {
  return withinSize(merge(one, other))
}

export function shapeOfValue(value: unknown): Shape {
  return withinSize(observe(value, 0))
}

function withinSize(shape: Shape): Shape {
  let result = shape
  for (let depth = MAX_SHAPE_DEPTH; depth >= 0 && JSON.stringify(result).length > MAX_SHAPE_LENGTH; depth -= 1) {
    result = shallow(shape, depth)
  }
  return result
}

function observe(value: unknown, depth: number): Shape {
  if (value === null) return { type: ['null'] }
  if (Array.isArray(value)) {
    if (value.length === 0 || depth >= MAX_SHAPE_DEPTH) return { type: ['array'] }
    const items = value.slice(0, MAX_ITEMS).map((item) => observe(item, depth + 1))
    return { type: ['array'], items: items.reduce(merge) }
  }
  if (isRecord(value)) return observeObject(value, depth)
  if (typeof value === 'bigint') return { type: ['integer'] }
  if (typeof value === 'number') return { type: [Number.isInteger(value) ? 'integer' : 'number'] }
  return { type: [typeof value] }
}

function observeObject(value: Record<string, unknown>, depth: number): Shape {
  const keys = Object.keys(value)
  if (keys.length === 0 || depth >= MAX_SHAPE_DEPTH) return { type: ['object'] }
  if (keys.length > MAX_KEYS || keys.some((key) => !isFieldName(key))) {
    const values = keys.slice(0, MAX_ITEMS).map((key) => value[key])
    return { type: ['object'], additionalProperties: values.map((item) => observe(item, depth + 1)).reduce(merge) }
  }
  const properties = Object.fromEntries(keys.map((key) => [key, observe(value[key], depth + 1)]))
  return { type: ['object'], properties, required: keys }
}

/** Whether a key names a field, rather than being data: an id, a path, an address, a sentence. */
function isFieldName(key: string): boolean {
  return /^[A-Za-z_$@][\w$:.-]{0,39}$/.test(key) && !/\d{3}|[.:-].*[.:-]|@.*\./.test(key)
}

function merge(one: Shape, other: Shape): Shape {
  const types = new Set([...one.type, ...other.type])
  // A tool that sometimes returns another text promises no rows.
  if (types.has('string')) types.delete('Text')
  const result: Shape = { type: [...types].toSorted() }
  const items = mergeOptional(one.items, other.items)
  if (items !== undefined) result.items = items
  const isObject = (shape: Shape): boolean => shape.type.includes('object')
  const map = mergeOptional(one.additionalProperties, other.additionalProperties)
  const keys = [...new Set([...Object.keys(one.properties ?? {}), ...Object.keys(other.properties ?? {})])]
  if (map !== undefined || keys.length > MAX_KEYS) {
    const fields = [...Object.values(one.properties ?? {}), ...Object.values(other.properties ?? {})]
    result.additionalProperties = (map === undefined ? fields : [map, ...fields]).reduce(merge)
  } else if (keys.length > 0) {
    const parts = keys.map((key) => [key, mergeOptional(own(one, key), own(other, key))!] as const)
    result.properties = Object.fromEntries(parts)
    // A key that is missing in one object is not required.
    const certain = [one, other].filter(isObject).map((shape) => new Set(shape.required ?? []))
    result.required = keys.filter((key) => certain.every((names) => names.has(key)))
  }
  return result
}

function own(shape: Shape, key: string): Shape | undefined {
  return shape.properties && Object.hasOwn(shape.properties, key) ? shape.properties[key] : undefined
}

function mergeOptional(one: Shape | undefined, other: Shape | undefined): Shape | undefined {
  return one && other ? merge(one, other) : (one ?? other)
}

function shallow(shape: Shape, depth: number): Shape {
  if (depth <= 0) return { type: shape.type }
  const result: Shape = { ...shape }
  if (shape.items) result.items = shallow(shape.items, depth - 1)
  if (shape.additionalProperties) result.additionalProperties = shallow(shape.additionalProperties, depth - 1)
  if (shape.properties) {
    const parts = Object.entries(shape.properties).map(([key, part]) => [key, shallow(part, depth - 1)] as const)
    result.properties = Object.fromEntries(parts)
  }
  return result
}
