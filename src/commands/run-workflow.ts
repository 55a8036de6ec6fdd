// `sandbridge run-workflow`: runs a workflow without a model. Exit codes: 0 success, 1 failure, 2 invalid usage, 3 its tools have changed.
import type { Bridge } from '../bridge.ts'
import { TimeLimit } from '../cell/time-limit.ts'
import { BridgeError } from '../errors.ts'
import { count } from '../text/count.ts'
import { FixtureFile, recording, replaying } from '../workflows/fixture.ts'
import { parseArguments } from '../workflows/parameters.ts'
import { checkResumable, RunJournal } from '../workflows/run-journal.ts'
import { outdatedReplies } from '../workflows/reply-drift.ts'
import { driftOf } from '../workflows/used-tools.ts'
import { WORKFLOW_TIMEOUT_MS } from '../workflows/schedules.ts'
import { asWorkflow, codeFor, functionName, type Workflow } from '../workflows/workflow-cell.ts'
import { withBridge } from './open-bridge.ts'
import { print, printEmpty, printJson, printSummary, printTable, visible } from './print.ts'
import { ProgressBar } from './progress-bar.ts'
import { runInTerminal } from './run-in-terminal.ts'
import type { Upstreams } from '../upstream/upstream.ts'

interface RunOptions {
  json?: boolean
  dryRun?: boolean
  check?: boolean
  record?: boolean
  resume?: boolean
  timeout?: string
  images?: string
}

const FAILED = 1
const DRIFTED = 3

export async function runWorkflow(name: string, words: string[], options: RunOptions): Promise<void> {
  await withBridge(async (bridge) => {
    const workflow = asWorkflow(await bridge.savedTools.find(functionName(name)))
    const fixtures = new FixtureFile(bridge.stores.of(undefined), workflow.name)
    const fixture = await fixtures.read()
    // A check needs no arguments: it uses those of the recorded run.
    const isRecorded = options.check === true && words.length === 0 && fixture !== undefined
    const args = isRecorded ? fixture.args : parseArguments(words, workflow.workflow.parameters)

    const drift = await driftOf(workflow.workflow, bridge.catalog, bridge.settings.packages)
    for (const line of [...drift.gone, ...drift.changed]) tell(line)
    if (drift.gone.length > 0) {
      process.exitCode = DRIFTED
      return tell('Nothing was called.')
    }
    if (options.dryRun) return showPlan(workflow, args, options)
    if (options.check) {
      if (!fixture)
        throw new BridgeError('STATE_NOT_FOUND', `No replies of '${name}' are recorded`, {
          hint: `Run it once: sandbridge run-workflow ${name}`,
        })
      const outdated = await outdatedReplies(fixture, bridge.catalog)
      for (const line of outdated) tell(line)
      const ended = await run(workflow, args, bridge, replaying(bridge.upstreams, fixture), options)
      process.exitCode = !ended ? FAILED : drift.changed.length + outdated.length > 0 ? DRIFTED : 0
      return tell(ended ? 'It runs against its recorded replies.' : 'It fails against its recorded replies.')
    }
    await runForReal(workflow, args, bridge, { fixtures, isFirst: fixture?.version !== workflow.version }, options)
  })
}

/** `sandbridge workflows`. */
export async function listWorkflows({ json }: { json?: boolean }): Promise<void> {
  await withBridge(async ({ savedTools }) => {
    const { tools } = await savedTools.list()
    const found = tools.flatMap((tool) => (tool.workflow ? [asWorkflow(tool)] : []))
    if (json) return printJson(found)
    if (found.length === 0)
      return printEmpty('No workflows yet. A cell keeps one with runtime.save_workflow(name, func).')
    printTable(
      found.map(({ workflow, version, signature, description }) => [
        { text: workflow.title, style: 'cyan' },
        `version ${version}`,
        signature,
        description.split('\n')[0] ?? '',
      ]),
      { head: ['NAME', 'VERSION', 'PARAMETERS', 'WHAT IT DOES'] },
    )
    printSummary(`Run one: sandbridge run-workflow ${found[0]!.workflow.title}`)
  })
}

async function runForReal(
  workflow: Workflow,
  args: Record<string, unknown>,
  bridge: Bridge,
  { fixtures, isFirst }: { fixtures: FixtureFile; isFirst: boolean },
  options: RunOptions,
): Promise<void> {
  const { version, name } = workflow
  const journal = new RunJournal(bridge.settings.stateDir, name)
  const earlier = await journal.earlier()
  const resumed = options.resume ? checkResumable(earlier, version, args) : undefined
  const done = [...(earlier?.effects.values() ?? [])].length
  if (resumed) tell(`Resuming the run of ${resumed.startedAt}: ${count(done, 'call')} of it will not be made again.`)
  else if (earlier && done > 0)
    tell(
      `The run of ${earlier.startedAt} failed after ${count(done, 'call')} with an effect; --resume would go on with it.`,
    )
  await journal.begin(version, args, resumed)
  const calls: Parameters<typeof recording>[1] = []
  const upstreams = recording(journal.watch(bridge.upstreams, bridge.catalog, resumed), calls)
  const ended = await run(workflow, args, bridge, upstreams, options)
  if (!ended) {
    process.exitCode = FAILED
    const effects = (await journal.earlier())?.effects.size ?? 0
    if (effects > 0)
      tell(`${count(effects, 'call')} with an effect were made. Go on with --resume, and they are not made again.`)
    return
  }
  await journal.end()
  if (options.record || isFirst) await fixtures.write({ version, args, calls })
}

async function run(
  workflow: Workflow,
  args: Record<string, unknown>,
  bridge: Bridge,
  upstreams: Upstreams,
  { json, images = '.', timeout }: RunOptions,
): Promise<boolean> {
  const seconds = Number(timeout ?? WORKFLOW_TIMEOUT_MS / 1000)
  if (!(seconds > 0 && seconds <= 86_400)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', '--timeout is a number of seconds, at most 86400', { hint: '' })
  }
  const timeoutMs = seconds * 1000
  const request = { code: codeFor(workflow, args), timeoutMs, timeLimit: new TimeLimit(timeoutMs), upstreams }
  const shown = { bar: new ProgressBar(process.stderr), json: json === true, images }
  return runInTerminal(bridge, bridge.sessions.open(), request, shown)
}

function showPlan({ workflow, version }: Workflow, args: Record<string, unknown>, { json }: RunOptions): void {
  const { title, uses, packages } = workflow
  if (json) return printJson({ name: title, version, arguments: args, uses, packages })
  print(`${title}, version ${version}, with ${JSON.stringify(args)}`)
  for (const { server, tool, readOnly } of uses)
    print(`  may call ${server}.${tool}${readOnly ? '' : ', which may change something'}`)
  for (const one of packages) print(`  needs the package ${one}`)
}

/** For a person; stdout belongs to the workflow. */
function tell(text: string): void {
  process.stderr.write(`${visible(text)}\n`)
}
