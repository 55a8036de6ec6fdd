// `sandbridge run-workflow`: runs a workflow without a model. Exit codes: 0 success, 1 failure, 2 invalid usage, 3 its
// tools have changed, 4 calls were refused or failed, and it went on.
import type { OpenTenant, RunCellRequest } from '@sandbridge/core/bridge'
import type { CellJournal } from '@sandbridge/core/parts'
import { TimeLimit } from '@sandbridge/core/cell'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { count } from '@sandbridge/core/util/text'
import { parseJson, isRecord } from '@sandbridge/core/util/json/json.ts'
import type { DeclaredFlow, WatchedFlows } from '@sandbridge/core/config/rules'
import { flowLines } from '@sandbridge/permissions/rules/declared-flows.ts'
import { CHANGED, DeclaredFlows } from '../declared-flows.ts'
import { FixtureFile, recording, replaying, type Fixture } from '../replay/fixture.ts'
import { type OwnOptions, parseTyped } from '../own-options.ts'
import {
  type EarlierRun,
  failedWith,
  findResumable,
  newestOf,
  noneToResume,
  resultOf,
  RunJournals,
  countEffects,
} from '../replay/run-journal.ts'
import { driftOf } from '../used-tools.ts'
import type { Decide } from '@sandbridge/once/entry.ts'
import { WORKFLOW_TIMEOUT_MS } from '../schedule/schedules.ts'
import { asWorkflow, codeFor, functionName, watchedFlows, type Workflow } from '../workflow-cell.ts'
import { print, printEmpty, printJson, printSummary, printTable, tell } from '@sandbridge/core/serve/cli/terminal'
import { confirm } from '@sandbridge/shared/terminal/confirm.ts'
import { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'
import { hasTerminal, pickOne, readLine, whileAsking } from '@sandbridge/shared/terminal/ask-in-terminal.ts'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'
import { runInTerminal } from '@sandbridge/terminal/cells/run-in-terminal.ts'
import type { Upstreams } from '@sandbridge/core/upstream'
import { type Catalog, violation } from '@sandbridge/core/calls/catalog'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'

interface RunOptions {
  json?: boolean
  dryRun?: boolean
  check?: boolean
  record?: boolean
  resume?: boolean
  unanswered?: string
  timeout?: string
  images?: string
}

const FAILED = 1
const DRIFTED = 3

export async function runWorkflow(
  name: string,
  words: string[],
  options: RunOptions,
  own: () => Promise<OwnOptions>,
): Promise<void> {
  await withBridge(async (bridge) => {
    const workflow = asWorkflow(await savedOf(bridge.own).tools.find(functionName(name)))
    const fixtures = new FixtureFile(bridge.stores.of(undefined), workflow.name)
    // A run that makes its calls needs no recorded replies, and records them anew if they are damaged.
    const fixture = options.check ? await fixtures.read() : await fixtures.read().catch(() => undefined)
    // A check needs no arguments: it uses those of the recorded run.
    const isRecorded = options.check === true && words.length === 0 && fixture !== undefined
    const journals = new RunJournals(bridge, workflow.name)
    const earlier = await journals.earlier()
    // So does a run that is resumed: it uses those of the run that failed.
    const takesResumed = options.resume === true && words.length === 0 && !isRecorded
    const resumed = takesResumed ? newestOf(earlier) : undefined
    if (takesResumed && !resumed) throw noneToResume()
    const args = isRecorded
      ? fixture.args
      : (resumed?.args ?? parseTyped(words, workflow.workflow.parameters, await own()))

    const flows = await DeclaredFlows.of(bridge, workflow)
    const { flows: declared, hasChanged } = await flows.read()
    const drift = await driftOf(workflow.workflow, bridge.catalog, bridge.settings.packages)
    for (const line of [...drift.gone, ...drift.changed]) tell(line)
    if (drift.gone.length > 0) {
      process.exitCode = DRIFTED
      return tell('Nothing was called.')
    }
    if (options.dryRun) return showPlan(workflow, args, declared, options)
    if (options.check) {
      if (!fixture)
        throw new BridgeError('STATE_NOT_FOUND', `No replies of '${name}' are recorded`, {
          hint: `Run it once: sandbridge run-workflow ${name}`,
        })
      const outdated = await outdatedReplies(fixture, bridge.catalog)
      for (const line of outdated) tell(line)
      const upstreams = replaying(bridge.upstreams, fixture)
      const code = await run(workflow, args, bridge, { upstreams, watched: watchedFlows(workflow, declared) }, options)
      const isOther = drift.changed.length + outdated.length > 0
      process.exitCode = code === FAILED ? FAILED : isOther ? DRIFTED : 0
      return tell(
        code !== FAILED ? 'It runs against its recorded responses.' : 'It fails against its recorded responses.',
      )
    }
    if (hasChanged && bridge.rules.shared?.judgesFlow && !(await allowsChanged(workflow))) {
      process.exitCode = FAILED
      return tell('Nothing was called.')
    }
    const isFirst = fixture?.version !== workflow.version
    // A run that is recorded may take new ways: it asks about them like a cell.
    const watched = watchedFlows(workflow, options.record ? undefined : declared)
    await runForReal(workflow, args, bridge, { fixtures, isFirst, flows, watched, journals, earlier }, options)
  })
}

/** `sandbridge workflows`. */
export async function listWorkflows({ json }: { json?: boolean }): Promise<void> {
  await withBridge(async ({ own }) => {
    const { tools } = await savedOf(own).tools.list()
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

/** Asks whether a workflow may run whose code is not the one that declared its flows. */
async function allowsChanged({ workflow: { title }, source }: Workflow): Promise<boolean> {
  tell(`${title}: ${CHANGED}.`)
  if (!hasTerminal()) {
    tell(`Read it, and run it once in a terminal: sandbridge run-workflow ${title}`)
    return false
  }
  tell(source)
  return confirm('Run this code, and declare the flows of its calls? [y/N] ')
}

interface RealRun {
  fixtures: FixtureFile
  isFirst: boolean
  flows: DeclaredFlows
  watched: WatchedFlows
  journals: RunJournals
  earlier: readonly EarlierRun[]
}

async function runForReal(
  workflow: Workflow,
  args: Record<string, unknown>,
  bridge: OpenTenant,
  { fixtures, isFirst, flows, watched, journals, earlier }: RealRun,
  options: RunOptions,
): Promise<void> {
  const { version } = workflow
  const timeoutMs = timeoutOf(options)
  const bar = new ProgressBar(process.stderr, process.env)
  const decide = decisionFrom(options.unanswered) ?? askForDecision(bar)
  const resumed = options.resume ? findResumable(earlier, version, args) : undefined
  const journal = await (resumed
    ? journals.resume(resumed, timeoutMs, decide)
    : journals.begin(version, args, timeoutMs))
  const before = resumed ?? failedWith(earlier, args)
  const { answered: done, unanswered } = countEffects(before)
  if (resumed && done === 0) tell(`Resuming the run of ${resumed.startedAt}, in which no call was answered.`)
  else if (resumed)
    tell(`Resuming the run of ${resumed.startedAt}: ${count(done, 'call')} of it will not be made again.`)
  else if (before && done + unanswered > 0) {
    const made = count(done + unanswered, 'call')
    tell(`The run of ${before.startedAt} failed after ${made} with an effect; --resume would go on with it.`)
  }
  const calls: Parameters<typeof recording>[1] = []
  const upstreams = recording(bridge.upstreams, calls)
  const kept = { upstreams, watched, journal: recorded(journal.cell, calls) }
  let code = FAILED
  try {
    code = await run(workflow, args, bridge, kept, options, bar)
  } finally {
    if (code === FAILED) tellEffects(await journal.fail())
  }
  process.exitCode = code
  if (code === FAILED) return
  await journal.end()
  if (!watched.declared && bridge.rules.shared?.followsFlow === true)
    for (const line of flowLines(await flows.add(watched.taken))) tell(`From now on, ${line}.`)
  if (options.record || isFirst) await fixtures.write({ version, args, calls })
}

/** Adds the answers of the run that is resumed, whose calls are not made. */
function recorded(journal: CellJournal, calls: Parameters<typeof recording>[1]): CellJournal {
  return {
    ...journal,
    enter: async (call) => {
      const entered = await journal.enter(call)
      const { tool, args } = call
      if (entered?.answer) calls.push({ server: tool.server, tool: tool.name, args, result: entered.answer })
      return entered
    },
  }
}

/** What a run that failed has done, and how to go on. */
function tellEffects({ answered, unanswered }: { answered: number; unanswered: number }): void {
  if (answered > 0)
    tell(`This run made ${count(answered, 'call')} with an effect. Go on with --resume, which repeats none.`)
  if (unanswered === 0) return
  const open = `${count(unanswered, 'call')} with an effect ${unanswered === 1 ? 'was' : 'were'} never answered`
  tell(`${open}: see what ${unanswered === 1 ? 'it' : 'they'} did before you go on with --resume.`)
}

async function run(
  workflow: Workflow,
  args: Record<string, unknown>,
  bridge: OpenTenant,
  { upstreams, watched, journal }: Pick<RunCellRequest, 'journal'> & { upstreams: Upstreams; watched: WatchedFlows },
  options: RunOptions,
  bar = new ProgressBar(process.stderr, process.env),
): Promise<number> {
  const { json, images = '.' } = options
  const timeoutMs = timeoutOf(options)
  const timeLimit = new TimeLimit(timeoutMs)
  const cell = { code: codeFor(workflow, args), timeoutMs, timeLimit, upstreams, workflow: watched }
  const request = { ...cell, ...(journal && { journal }) }
  const shown = { bar, json: json === true, images, endsSession: true }
  return runInTerminal(bridge, bridge.openSession(), request, shown)
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID */
function timeoutOf({ timeout }: RunOptions): number {
  const seconds = Number(timeout ?? WORKFLOW_TIMEOUT_MS / 1000)
  if (seconds > 0 && seconds <= 86_400) return seconds * 1000
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', '--timeout is a number of seconds, at most 86400', { hint: '' })
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID */
function decisionFrom(words: string | undefined): Decide | undefined {
  if (words === undefined) return undefined
  if (words === 'again') return () => 'again'
  const value = parseJson(words)
  if (value === undefined) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', "--unanswered is 'again' or the answer as JSON", {
      hint: `A text as JSON has quotes: --unanswered '"done"'.`,
    })
  }
  return () => ({ result: resultOf(value) })
}

const AGAIN = 'make the call again'
const GIVEN = 'type the answer that it should have given'

/** Without a terminal, the run fails at the call. */
function askForDecision(bar: ProgressBar): Decide {
  return ({ server, tool, args }) => {
    if (!hasTerminal()) return undefined
    return whileAsking({ bar }, async () => {
      tell(
        `${server}.${tool} was called in the run that failed and never answered. It may or may not have taken effect.`,
      )
      tell(`  ${JSON.stringify(args)}`)
      const choice = await pickOne([AGAIN, GIVEN], 'to give up')
      if (choice === AGAIN) return 'again'
      if (choice !== GIVEN) return undefined
      const typed = (await readLine('The answer, as text or JSON: ', true)) ?? ''
      return { result: resultOf(parseJson(typed) ?? typed) }
    })
  }
}

function showPlan(
  { workflow, version }: Workflow,
  args: Record<string, unknown>,
  flows: readonly DeclaredFlow[] | undefined,
  { json }: RunOptions,
): void {
  const { title, uses, packages } = workflow
  if (json) return printJson({ name: title, version, arguments: args, uses, packages, flows })
  print(`${title}, version ${version}, with ${JSON.stringify(args)}`)
  for (const { server, tool, readOnly } of uses)
    print(`  may call ${server}.${tool}${readOnly ? '' : ', which may change something'}`)
  for (const line of flowLines(flows ?? [])) print(`  declares that ${line}`)
  for (const one of packages) print(`  needs the package ${one}`)
}

/** A sentence for each tool whose recorded replies no longer match its output schema. */
export async function outdatedReplies({ calls }: Fixture, catalog: Pick<Catalog, 'findTool'>): Promise<string[]> {
  const told = new Map<string, string>()
  for (const { server, tool, result } of calls) {
    const name = `${server}.${tool}`
    if (told.has(name) || !isRecord(result) || result['isError'] === true) continue
    // A missing tool is reported elsewhere.
    const found = await catalog.findTool(server, tool).catch((error: unknown) => {
      if (!BridgeError.isInstance(error)) throw error
    })
    const schema = found?.definition.outputSchema
    if (schema === undefined) continue
    const value = result['structuredContent']
    const wrong = value === undefined ? 'it has no structured content' : violation(value, schema, schema, 'result')
    if (wrong !== undefined) told.set(name, `A recorded reply of ${name} does not fit what it returns today: ${wrong}.`)
  }
  return [...told.values()]
}
