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

/** Arguments travel as JSON inside of a text: nothing of them is code. */
export function codeFor(
  { name, version }: SavedToolContent & { version: number },
  args: Record<string, unknown>,
): string {
  const text = JSON.stringify(JSON.stringify(args)).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return [
    `# ${name}, version ${version}`,
    'import json as _json',
    `await workflows.${name}(**_json.loads(${text}))`,
  ].join('\n')
}
