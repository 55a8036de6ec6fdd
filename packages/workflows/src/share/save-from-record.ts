// Makes a workflow: a cell turns recorded code into a function and saves it; the replies are its fixture.
import { functionCode, functionIn, loadedJson } from '../cell-function.ts'
import type { DeclaredFlow } from '@sandbridge/core/config/rules'
import type { RecordedCode } from './recorded-code.ts'
import type { CellResult } from '@sandbridge/core/cell'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { type SavedTool, WORKFLOW_TITLE } from '@sandbridge/memories/saved/saved-tool.ts'
import type { FixtureFile } from '../replay/fixture.ts'
import { functionName } from '../workflow-cell.ts'

export interface NewWorkflow {
  /** `weekly-report` */
  title: string
  /** Replaces the docstring of the function. */
  description?: string
  /** Values in the code that become parameters. */
  parameters: readonly string[]
}

export interface SavedFromRecord {
  workflow: SavedTool
  /** The number of calls whose replies `--check` has. */
  replyCount: number
  /** Why there are no recorded replies; missing when there are. */
  withoutReplies?: string
  /** The flows of the recorded calls, which the workflow declares; missing like the replies. */
  flows?: DeclaredFlow[]
  /** Values that could be parameters, such as `week = 47`. */
  candidates: string[]
}

interface Context {
  /** Runs a cell; all cells share a session. */
  run: (code: string) => Promise<CellResult>
  find: (name: string) => Promise<SavedTool>
  fixtures: FixtureFile
  /** Keeps the flows of the recorded calls as those that the workflow declares. */
  declare: (workflow: SavedTool) => Promise<DeclaredFlow[]>
}

/** @throws BridgeError STATE_REFUSED with the reason why it cannot become a workflow */
export async function saveFromRecord(
  { cells, calls, incompleteCount }: RecordedCode,
  { title, description, parameters }: NewWorkflow,
  { run, find, fixtures, declare }: Context,
): Promise<SavedFromRecord> {
  if (!WORKFLOW_TITLE.test(title)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${title}' cannot be the name of a workflow`, {
      hint: 'A name has lower-case letters, digits and - only, and starts with a letter.',
    })
  }
  const made = okay(await run(functionCode(cells, functionName(title), parameters)))
  const { source, function: name, arguments: args, candidates } = functionIn(made)
  const about = description === undefined ? '' : `, description=${loadedJson(description)}`
  okay(await run(`${source}\n\nruntime.save_workflow(${JSON.stringify(title)}, ${name}${about})`))
  const workflow = await find(functionName(title))
  const withoutReplies =
    args === null
      ? 'these runs define it and do not call it'
      : incompleteCount > 0
        ? `the audit log lacks the responses or arguments of some calls (${incompleteCount})`
        : undefined
  const flows = withoutReplies === undefined ? await declare(workflow) : undefined
  if (withoutReplies === undefined) await fixtures.write({ version: workflow.version, args: args!, calls })
  return {
    workflow,
    replyCount: withoutReplies === undefined ? calls.length : 0,
    ...(withoutReplies !== undefined && { withoutReplies }),
    ...(flows && { flows }),
    candidates,
  }
}

function okay(result: CellResult): CellResult {
  if (result.status === 'ok') return result
  const { error, status } = result
  // A refusal explains itself; for missing values, name another run that may have set them.
  const reason = error ? error.message.replace(/^It cannot be saved: /, '') : status
  const isMissing = reason.includes('uses values that only this session has')
  throw new BridgeError('STATE_REFUSED', `No workflow can be made of this: ${reason}`, {
    hint: isMissing
      ? 'Name the runs that define it as well, in their order.'
      : (error?.hint ?? 'Write it as a function in a cell, and keep it with runtime.save_workflow.'),
    ...(error && { cause: error }),
  })
}
