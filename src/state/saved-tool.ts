// A saved tool: a Python function with what it needs, as the sandbox hands it over and as it is kept and shared. Pure.
// All of it is the sandbox's own words. It is data here and is only ever run inside a sandbox.
import * as z from 'zod'
import { firstSentence, oneLine } from '../text/one-line.ts'
import { boundedList } from '../protocol/bounded-schema.ts'

/** A Python name that is a file name everywhere, too. Whether it is a keyword shows when it is loaded. */
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

/** What makes a function a workflow: how it is called from outside of a cell, and what it called when it was saved. */
const workflow = z.object({
  /** `weekly-report`, where the function is `weekly_report`. */
  title: z.string().regex(WORKFLOW_TITLE, 'must have lower-case letters, digits and - only, and start with a letter'),
  parameters: boundedList(
    z.object({
      name: pythonName,
      /** As it is annotated in Python. */
      type: line,
      required: z.boolean().default(false),
      default: z.json().optional(),
    }),
    50,
  ).default([]),
  /** What MCP_BRIDGE_PACKAGES was. */
  packages: boundedList(line, 100).default([]),
  /** The tools that its source names. Those that the server did not have then have no hash. */
  uses: boundedList(
    z.object({
      server: z.string().min(1).max(1_000),
      tool: z.string().min(1).max(1_000),
      /** Of the tool's schemas. */
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

/** What a tool is made of. Exported files hold these, so a field is only ever added. */
export const savedToolContent = z.object({
  name: z
    .string()
    .regex(TOOL_NAME, 'must be a plain Python name of at most 64 letters, digits and _, without _ at the start'),
  /** The `def` with its decorators. */
  source: z.string().min(1).max(MAX_SOURCE_CHARS),
  /** Import statements that come before it. */
  imports: boundedList(line, 100).default([]),
  /** Servers that the function uses, by the variable it knows each by, such as `mcp_github`. */
  servers: boundedList(
    z.object({ variable: pythonName, name: z.string().min(1).max(1_000), alias: z.string().min(1).max(200) }),
    100,
  ).default([]),
  /** `(rows: list, limit=10) -> str` */
  signature: line,
  description: z.string().max(20_000).default(''),
  isAsync: z.boolean(),
  workflow: workflow.optional(),
})

export type SavedToolContent = z.infer<typeof savedToolContent>

/** One version, as it is kept. */
export interface SavedTool extends SavedToolContent {
  version: number
  createdAt: string
}

/** The module that saved tools are imported from; also what stands for a server in their docs. */
export const SAVED_TOOLS_MODULE = 'user_tools'

/** The one line to show and to paste: it imports the tool and calls it. */
export function savedToolLine({ name, signature, description, isAsync, ...tool }: SavedToolContent): string {
  const comment = [tool.workflow ? 'workflow' : 'saved', firstSentence(description, 72)].filter(Boolean).join('; ')
  if (tool.workflow) return `await workflows.${name}${oneLine(signature, 300)}  # ${comment}`
  return `from ${SAVED_TOOLS_MODULE} import ${name}; ${isAsync ? 'await ' : ''}${name}${oneLine(signature, 300)}  # ${comment}`
}

/** The description on one line. */
export function savedToolSummary({ description }: SavedToolContent): string {
  return oneLine(description, 1_000)
}
