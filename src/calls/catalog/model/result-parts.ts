// What a tool's result holds, also where its server does not keep to the specification. Pure.
import type { ToolResult } from '../../../upstream/upstream.ts'
import { isRecord } from '../../../util/json/json.ts'

export interface TextBlock {
  type: 'text'
  text: string
}

/** The content blocks. Some servers send a text or a single block where the specification has a list. */
export function blocksOf(content: unknown): unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (isRecord(content)) return [content]
  return Array.isArray(content) ? content : []
}

/**
 * The structured content; undefined when there is none. Some servers send an unset field as null, or as an empty object
 * beside the text that is their result: a tool without an output schema has promised no object.
 */
export function structuredOf({ content, structuredContent }: ToolResult, hasOutputSchema: boolean): unknown {
  if (structuredContent === null) return undefined
  if (hasOutputSchema || !isRecord(structuredContent) || Object.keys(structuredContent).length > 0)
    return structuredContent
  return blocksOf(content).some((block) => isText(block) && block.text.trim() !== '') ? undefined : structuredContent
}

export function isText(block: unknown): block is TextBlock {
  return isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string'
}
