// What a tool's result holds, also where its server does not keep to the specification. Pure.
import type { ToolResult } from '../../../upstream/upstream.ts'
import { fieldsOf, isRecord } from '../../../util/json/json.ts'
import { flattened, members, propertiesOf, type Schema, typesOf } from '../signature/json-schema.ts'

export interface TextBlock {
  type: 'text'
  text: string
}

/** The content blocks. Some servers send a text or a single block where the specification has a list. */
export function blocksOf(content: unknown): unknown[] {
  if (['string', 'number', 'boolean'].includes(typeof content)) return [{ type: 'text', text: String(content) }]
  if (isRecord(content)) return [content]
  return Array.isArray(content) ? content : []
}

/**
 * The structured content; undefined when there is none. Some servers send an unset field as null, or as an empty object
 * beside the content that is their result: a tool without an output schema has promised no object.
 */
export function structuredOf({ content, structuredContent }: ToolResult, hasOutputSchema: boolean): unknown {
  if (structuredContent === null) return undefined
  if (hasOutputSchema || !isRecord(structuredContent) || Object.keys(structuredContent).length > 0)
    return structuredContent
  return blocksOf(content).some((block) => !isText(block) || block.text.trim() !== '') ? undefined : structuredContent
}

/** Fields of an object that holds nothing else, which servers put around values that are no objects. */
const BOXES = ['result', 'content']

/** The name and the value of the only field of a box; undefined for anything else. */
export function inBox(value: unknown): [name: string, inside: unknown] | undefined {
  const name = isRecord(value) && BOXES.find((one) => Object.hasOwn(value, one))
  return name && Object.keys(value).length === 1 ? [name, value[name]] : undefined
}

/** The schema of what is in the box that an output schema promises; undefined for a schema of anything else. */
export function schemaInBox(outputSchema: unknown): unknown {
  return inBox(Object.fromEntries(propertiesOf(flattened(outputSchema, outputSchema))))?.[1]
}

/**
 * The schema of a box that promises content blocks that are images or sounds, and no texts: the kernel makes media of
 * them. Undefined for any other.
 */
export function mediaInBox(outputSchema: unknown): Schema | undefined {
  const { items } = flattened(schemaInBox(outputSchema), outputSchema)
  const item = flattened(items, outputSchema)
  const options = (['anyOf', 'oneOf'] as const).flatMap((keyword) => members(item, keyword))
  const read = (options.length > 0 ? options.slice(0, MAX_BLOCK_TYPES) : [item]).map((option) => {
    const fields = fieldsOf(flattened(option, outputSchema)['properties'])
    const { const: only, enum: kinds = [only] } = flattened(fields['type'], outputSchema)
    if ([kinds].flat().includes('text')) return undefined
    return 'data' in fields && [kinds].flat().every((kind) => kind === 'image' || kind === 'audio') ? MEDIA : option
  })
  return read.includes(MEDIA) && !read.includes(undefined) ? { type: 'array', items: { anyOf: read } } : undefined
}

const MEDIA = { type: 'Media' }
const MAX_BLOCK_TYPES = 8

/** Whether structured content of this output schema is never a box, whichever fields it has this time. */
export function isNeverBox(outputSchema: unknown): boolean {
  const schema = flattened(outputSchema, outputSchema)
  const isObject =
    typesOf(schema).includes('object') || ['properties', 'additionalProperties'].some((one) => one in schema)
  return isObject && schemaInBox(outputSchema) === undefined
}

/** Whether the value that the schema promises may be a text: then it is one whenever the server sends one. */
export function promisesText(outputSchema: unknown): boolean {
  if (!isRecord(outputSchema)) return false
  // Grows while it is read: options may lead back to each other.
  const options = new Set<unknown>([schemaInBox(outputSchema) ?? outputSchema])
  for (const option of options) {
    const { type, const: only, enum: choices = [only], ...rest } = flattened(option, outputSchema)
    if ([type].flat().includes('string') || [choices].flat().some((one) => typeof one === 'string')) return true
    for (const keyword of ['anyOf', 'oneOf'] as const) for (const one of members(rest, keyword)) options.add(one)
  }
  return false
}

/** Blocks that the kernel turns into an image or a sound (values.py). */
export function isMedia(block: unknown): boolean {
  if (!isRecord(block)) return false
  const { type, resource } = block
  if (type !== 'resource' || !isRecord(resource)) return type === 'image' || type === 'audio'
  return typeof resource['blob'] === 'string' && /^(image|audio)\//.test(String(resource['mimeType']))
}

export function isText(block: unknown): block is TextBlock {
  return isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string'
}
