// Makes the cell that runs a workflow, and defines the rules for workflow names. Pure.
import { loadedText } from './cell-function.ts'
import { exactJson } from '@sandbridge/core/util/json'
import type { WatchedFlows } from '@sandbridge/core/config/rules'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { SavedTool, WorkflowDetails } from '@sandbridge/memories/saved/saved-tool.ts'
import { isFloat } from './parameters.ts'

export type Workflow = SavedTool & { workflow: WorkflowDetails }

/** The function of a workflow: `weekly_report` for `weekly-report`. */
export function functionName(name: string): string {
  return name.replaceAll('-', '_')
}

/** @throws BridgeError STATE_NOT_FOUND for a saved function that is not a workflow */
export function asWorkflow(tool: SavedTool): Workflow {
  const { workflow } = tool
  if (workflow) return { ...tool, workflow }
  throw new BridgeError('STATE_NOT_FOUND', `'${tool.name}' is a saved function and not a workflow`, {
    hint: `Keep it with runtime.save_workflow("${tool.name.replaceAll('_', '-')}", func).`,
  })
}

/** What a run of a workflow without a model is judged by. */
export function watchedFlows(
  { workflow: { title }, source }: Workflow,
  declared: WatchedFlows['declared'],
): WatchedFlows {
  return { title, source, declared, taken: [] }
}

/** The code of a cell that calls a workflow. A whole number is written as `3.0` for a parameter that is a float. */
export function codeFor({ name, version, workflow }: Workflow, args: Record<string, unknown>): string {
  const floats = new Set(workflow.parameters.filter(isFloat).map((one) => one.name))
  const pairs = Object.entries(args).map(([key, value]) => {
    const json = exactJson(value)
    return `${JSON.stringify(key)}:${floats.has(key) && typeof value === 'number' && /^-?\d+$/.test(json) ? `${json}.0` : json}`
  })
  return [
    `# ${name}, version ${version}`,
    'import json as _json',
    `await workflows.${name}(**${loadedText(`{${pairs.join(',')}}`)})`,
  ].join('\n')
}
