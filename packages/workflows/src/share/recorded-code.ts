// Reads what a workflow is made of from recorded runs: their code, and their tool calls with arguments and replies.
// The record contains these with MCP_BRIDGE_AUDIT=replay.
import { hash } from 'node:crypto'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { shortId } from '@sandbridge/core/observe/events'
import type { Logs } from '@sandbridge/core/util/stores'
import { argumentsHash } from '@sandbridge/core/util/json/arguments-hash.ts'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { recordFiles } from '@sandbridge/record/audit/other-files.ts'
import { runsNamed } from '@sandbridge/record/audit/read-record.ts'
import { entryOf, type RecordEntry, runOf, textOf } from '@sandbridge/record/audit/record-entry.ts'
import { startOf } from '@sandbridge/record/audit/recorded-run.ts'

interface RecordedCall {
  server: string
  tool: string
  args: Record<string, unknown>
  result: unknown
}

export interface RecordedCode {
  /** Code of the runs, in the order of `ids`. */
  cells: string[]
  /** In order of their start. */
  calls: RecordedCall[]
  /** Number of calls without complete arguments or reply in the record. */
  incompleteCount: number
}

/** Tools whose code is not Python. */
const OTHER_LANGUAGE = /^run_(bash|javascript)$/
const MAX_CHARS = 64 << 20

/**
 * @param ids prefixes of ids of runs, cells or calls
 * @throws BridgeError TOOL_ARGUMENTS_INVALID for an invalid id, STATE_NOT_FOUND for a run that is not in the record, or
 * not with its code
 */
export async function recordedCode(logs: Logs, ids: readonly string[]): Promise<RecordedCode> {
  const runs: string[] = []
  for (const id of ids) runs.push(await runNamed(logs, id))
  const entries = await entriesOf(logs, new Set(runs))
  const ends = new Map(entries.filter(({ type }) => type === 'run').map((entry) => [runOf(entry.fields), entry]))
  const calls = entries.filter(({ type }) => type === 'call').toSorted((a, b) => startOf(a) - startOf(b))
  const whole = calls.flatMap((entry) => callOf(entry) ?? [])
  return {
    cells: runs.map((run) => codeOf(run, ends.get(run))),
    calls: whole,
    incompleteCount: calls.length - whole.length,
  }
}

/** Finds the one run for an id, as `sandbridge log` shows it. */
async function runNamed(logs: Logs, text: string): Promise<string> {
  const [run, another] = await runsNamed(logs, text)
  if (another === undefined) return run!
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Several runs begin with '${text}'`, {
    hint: 'Write more of its digits: `sandbridge log --json` shows all 16.',
  })
}

async function entriesOf(logs: Logs, runs: ReadonlySet<string>): Promise<RecordEntry[]> {
  const found: RecordEntry[] = []
  let chars = 0
  for (const { name } of await recordFiles(logs)) {
    for await (const line of logs.lines(name)) {
      // Most lines need no parsing.
      if (![...runs].some((run) => line.includes(run))) continue
      const entry = entryOf(line)
      if (!entry || !runs.has(runOf(entry.fields))) continue
      chars += line.length
      if (chars > MAX_CHARS) {
        throw new BridgeError('STATE_REFUSED', 'These runs made more calls than a workflow can record', {
          hint: 'Name fewer runs, or keep the function with runtime.save_workflow in a cell.',
        })
      }
      found.push(entry)
    }
  }
  return found
}

function codeOf(run: string, entry: RecordEntry | undefined): string {
  const name = shortId(run)
  if (!entry) throw new BridgeError('STATE_NOT_FOUND', `The run ${name} has not ended`, { hint: 'Wait until it has.' })
  const { fields } = entry
  const status = textOf(fields, 'status')
  const codeHash = textOf(fields, 'codeHash')
  const code = textOf(fields, 'code')
  if (codeHash === '') throw new BridgeError('STATE_REFUSED', `The run ${name} ran no code`, { hint: '' })
  const tool = textOf(fields, 'tool')
  if (OTHER_LANGUAGE.test(tool)) {
    throw new BridgeError('STATE_REFUSED', `The run ${name} is a cell of ${tool}`, {
      hint: 'A workflow is made of cells of run_python.',
    })
  }
  if (status !== 'ok') {
    throw new BridgeError('STATE_REFUSED', `The run ${name} failed: ${status}`, {
      hint: 'A workflow is made of runs that ended with ok.',
    })
  }
  if (code === '') {
    throw new BridgeError('STATE_NOT_FOUND', `The audit log has a hash of the code of run ${name}, and not the code`, {
      hint: 'Only runs that begin with MCP_BRIDGE_AUDIT=replay have their code and responses recorded. Set it, run the code again, and save that run.',
    })
  }
  if (hash('sha256', code) !== codeHash) {
    const message = `A secret was removed from the recorded code of run ${name}, so the code cannot be saved`
    throw new BridgeError('STATE_REFUSED', message, { hint: 'Keep the function with runtime.save_workflow in a cell.' })
  }
  return code
}

function callOf({ fields }: RecordEntry): RecordedCall | undefined {
  const args = parseJson(textOf(fields, 'args'))
  const result = parseJson(textOf(fields, 'result'))
  const isWhole = isRecord(args) && argumentsHash(args) === textOf(fields, 'argsHash')
  const tool = textOf(fields, 'kind') === 'tool' ? textOf(fields, 'name') : ''
  return isWhole && isRecord(result) && tool !== ''
    ? { server: textOf(fields, 'server'), tool, args, result }
    : undefined
}
