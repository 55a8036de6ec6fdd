// The cell that runs a workflow, and the rules for its name. Pure.
import { BridgeError } from '../errors.ts'
import type { SavedTool, SavedToolContent, WorkflowDetails } from '../state/saved-tool.ts'

export type Workflow = SavedTool & { workflow: WorkflowDetails }

/** The function that a workflow's name stands for: `weekly_report` for `weekly-report`. */
export function functionName(name: string): string {
  return name.replaceAll('-', '_')
}

/** @throws BridgeError STATE_NOT_FOUND for a function that is saved and no workflow */
export function asWorkflow(tool: SavedTool): Workflow {
  const { workflow } = tool
  if (workflow) return { ...tool, workflow }
  throw new BridgeError('STATE_NOT_FOUND', `'${tool.name}' is a saved function and not a workflow`, {
    hint: `Keep it with runtime.save_workflow("${tool.name.replaceAll('_', '-')}", func).`,
  })
}

/** What gives a value in Python, once `json` is imported as `_json`. It travels inside of a text: nothing of it is code. */
export function loadedJson(value: unknown): string {
  const text = JSON.stringify(JSON.stringify(value)).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return `_json.loads(${text})`
}

export function codeFor(
  { name, version }: SavedToolContent & { version: number },
  args: Record<string, unknown>,
): string {
  return [
    `# ${name}, version ${version}`,
    'import json as _json',
    `await workflows.${name}(**${loadedJson(args)})`,
  ].join('\n')
}
