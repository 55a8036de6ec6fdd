// A saved tool: a Python function with its dependencies. The sandbox wrote all of it: here it is only data. Pure.
import * as z from 'zod'
import { firstSentence, oneLine } from '@sandbridge/core/util/text'
import { boundedList } from '@sandbridge/core/util/json'

/** A Python name that is also a valid file name everywhere. Keywords are found when the tool is loaded. */
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
export const MAX_SOURCE_CHARS = 256 * 1024

const pythonName = z
  .string()
  .max(200)
  .regex(/^[\p{L}_][\p{L}\p{N}_]*$/u)

const line = z
  .string()
  .max(500)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'has a control character')

export const WORKFLOW_TITLE = /^[a-z][a-z0-9-]{0,63}$/

/** Data of a workflow: how it is called from outside a cell, and the tools it used when it was saved. */
const workflow = z.object({
  /** For example `weekly-report`, for the function `weekly_report`. */
  title: z.string().regex(WORKFLOW_TITLE, 'must have lower-case letters, digits and - only, and start with a letter'),
  parameters: boundedList(
    z.object({
      name: pythonName,
      /** The annotation in Python. */
      type: line,
      required: z.boolean().default(false),
      default: z.json().optional(),
    }),
    50,
  ).default([]),
  /** The value of MCP_BRIDGE_PACKAGES when it was saved. */
  packages: boundedList(line, 100).default([]),
  /** Tools that its source names. Without a hash if the server did not have the tool at that time. */
  uses: boundedList(
    z.object({
      server: z.string().min(1).max(1_000),
      tool: z.string().min(1).max(1_000),
      hash: z.string().max(64).optional(),
      readOnly: z.boolean().default(false),
      destructive: z.boolean().default(true),
      idempotent: z.boolean().default(false),
      openWorld: z.boolean().default(true),
    }),
    200,
  ).default([]),
})

export type WorkflowDetails = z.infer<typeof workflow>

/** Content of a tool. Exported files contain these fields, so fields may only be added. */
export const savedToolContent = z.object({
  name: z
    .string()
    .regex(TOOL_NAME, 'must be a plain Python name of at most 64 letters, digits and _, without _ at the start'),
  /** The `def` with its decorators. */
  source: z.string().min(1).max(MAX_SOURCE_CHARS),
  /** Import statements that precede it. */
  imports: boundedList(line, 100).default([]),
  /** Servers that the function uses, with the variable it uses for each, such as `mcp_github`. */
  servers: boundedList(
    z.object({ variable: pythonName, name: z.string().min(1).max(1_000), alias: z.string().min(1).max(200) }),
    100,
  ).default([]),
  /** For example `(rows: list, limit=10) -> str`. */
  signature: line,
  description: z.string().max(20_000).default(''),
  isAsync: z.boolean(),
  workflow: workflow.optional(),
})

export type SavedToolContent = z.infer<typeof savedToolContent>

export interface SavedTool extends SavedToolContent {
  version: number
  createdAt: string
}

/** The module that contains saved tools; also used as their server in docs. */
export const SAVED_TOOLS_MODULE = 'user_tools'

/** Returns code to paste, which imports and calls the tool, with its signature in place of arguments. */
export function savedToolCall({
  name,
  signature,
  isAsync,
  ...tool
}: Pick<SavedToolContent, 'name' | 'signature' | 'isAsync' | 'workflow'>): string {
  const call = `${name}${oneLine(signature, 300)}`
  if (tool.workflow) return `await workflows.${call}`
  return `from ${SAVED_TOOLS_MODULE} import ${name}; ${isAsync ? 'await ' : ''}${call}`
}

/** The same, with what the tool is. */
export function savedToolLine(tool: SavedToolContent): string {
  const comment = [tool.workflow ? 'workflow' : 'saved', firstSentence(tool.description, 72)].filter(Boolean).join('; ')
  return `${savedToolCall(tool)}  # ${comment}`
}

/** All of it that its author chose, and that a reader may be shown. */
export function writtenText({
  name,
  source,
  imports,
  servers,
  signature,
  description,
  ...more
}: SavedToolContent): string {
  const { title, parameters = [], uses = [] } = more.workflow ?? {}
  const parts = [
    [name, signature, description, source, ...imports, title],
    ...servers.map((server) => Object.values(server)),
    ...parameters.map((one) => [one.name, one.type, JSON.stringify(one.default)]),
    ...uses.map(({ server, tool }) => [server, tool]),
  ]
  return parts.flat().filter(Boolean).join('\n')
}

export function savedToolSummary({ description }: SavedToolContent): string {
  return oneLine(description, 1_000)
}

/** @returns the tools by name, `from` among them */
export function reachedTools<T extends SavedToolContent>(from: readonly T[], all: readonly T[]): Map<string, T> {
  const reached = new Map(from.map((tool) => [tool.name, tool]))
  // Entries that are added during the loop are visited, too.
  for (const { imports, source } of reached.values()) {
    const words = new Set(`${imports.join(' ')} ${source}`.match(/\w+/g))
    for (const tool of all) if (words.has(tool.name) && !reached.has(tool.name)) reached.set(tool.name, tool)
  }
  return reached
}
