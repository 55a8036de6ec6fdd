// Runs due workflows in a bridge of many clients. Reads schedules at intervals: notices new ones, and the clock.
import type { OpenTenant, RunOrigin } from '@sandbridge/core/bridge'
import { newId } from '@sandbridge/core/observe/events'
import { messageOf } from '@sandbridge/core/errors.ts'
import { type Due, ScheduleStore, type Schedule, WORKFLOW_TIMEOUT_MS } from './schedules.ts'
import { CHANGED, DeclaredFlows } from '../declared-flows.ts'
import { parseArguments } from '../parameters.ts'
import { RunJournals } from '../replay/run-journal.ts'
import { driftOf, usesNamed } from '../used-tools.ts'
import { asWorkflow, codeFor, functionName, watchedFlows } from '../workflow-cell.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'

const LOOK_EVERY_MS = 15_000
/** The client name of scheduled runs in the record. */
const CLIENT = 'schedule'

export class Scheduler {
  readonly #bridge: OpenTenant
  readonly #store: ScheduleStore
  readonly #running = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  /** What could not be read or run, as last logged: by schedule, and '' for all of them. */
  #failures = new Map<string, string>()

  constructor(bridge: OpenTenant) {
    this.#bridge = bridge
    this.#store = new ScheduleStore(bridge.stores.of(undefined))
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS)
    void this.look()
  }

  /** Starts no more runs. */
  stop(): void {
    clearInterval(this.#timer)
  }

  /** Resolves when the outcome of every run is stored. */
  async idle(): Promise<void> {
    await Promise.all(this.#running)
  }

  async look(now = new Date()): Promise<void> {
    const failures = new Map<string, unknown>()
    try {
      for (const due of await this.#store.claim(now, (id, error) => failures.set(id, error))) {
        if (due.run.outcome !== undefined) this.#tellNotRun(due)
        else {
          const running = this.#run(due).finally(() => this.#running.delete(running))
          this.#running.add(running)
        }
      }
    } catch (error) {
      failures.set('', error)
    }
    this.#tellFailures(failures)
  }

  /** Logs the same failure once, not every few seconds. */
  #tellFailures(failures: Map<string, unknown>): void {
    for (const [id, error] of failures) {
      if (this.#failures.get(id) === messageOf(error)) continue
      if (id === '') this.#bridge.log.error('Schedules cannot be run', { error })
      else this.#bridge.log.error('A schedule cannot be run', { schedule: id, error })
    }
    this.#failures = new Map([...failures].map(([id, error]) => [id, messageOf(error)]))
  }

  async #run({ id, schedule, run }: Due): Promise<void> {
    const { events, log } = this.#bridge
    const about = { id: newId(), client: CLIENT, trace: events.startTrace(undefined) }
    const startedAt = performance.now()
    events.emit({ type: 'run.started', tool: schedule.workflow, transport: 'pipe', ...about })
    const { problem, notDone } = await runUnwatched(this.#bridge, schedule, new Date(run.due), about).catch(
      (cause: unknown): Ended => ({ problem: messageOf(cause) }),
    )
    const outcome = problem === undefined ? 'ok' : 'failed'
    if (notDone !== undefined)
      log.warning('A scheduled workflow did not do all', { schedule: id, due: run.due, notDone })
    if (problem !== undefined) log.error('A scheduled workflow failed', { schedule: id, due: run.due, problem })
    const error = problem === undefined ? undefined : { code: 'FAILED', message: problem }
    this.#emitEnd(about.id, error, performance.now() - startedAt)
    const message = problem ?? notDone
    const ended = { outcome, ...(message !== undefined && { message }) } as const
    await this.#store.end(id, run, ended, new Date()).catch((cause: unknown) => {
      log.warning('The outcome of a scheduled run could not be saved', { schedule: id, error: cause })
    })
  }

  #tellNotRun({ id, schedule, run, count }: Due): void {
    const { events, log } = this.#bridge
    const { due, message = '', outcome } = run
    log.warning('A scheduled workflow was not run', { schedule: id, due, why: message, ...(count > 1 && { count }) })
    const about = { id: newId(), client: CLIENT }
    events.emit({ type: 'run.started', tool: schedule.workflow, transport: 'pipe', ...about })
    this.#emitEnd(about.id, { code: outcome === 'missed' ? 'MISSED' : 'SKIPPED', message }, 0)
  }

  #emitEnd(id: string, error: { code: string; message: string } | undefined, durationMs: number): void {
    this.#bridge.events.emit({
      type: 'run.ended',
      id,
      client: CLIENT,
      outcome: error === undefined ? 'ok' : 'tool_error',
      ...(error && { error }),
      durationMs,
      content: [],
    })
  }
}

// One unattended run of a workflow. A call that a rule would ask about is refused, unless it was allowed for this
// version when the run was scheduled; so is one whose flow the workflow does not declare.

/** Why it failed, or which calls it made in vain. */
interface Ended {
  problem?: string
  notDone?: string | undefined
}

/**
 * @param due the time that `auto` parameters refer to
 * @throws BridgeError when the workflow no longer exists or the parameters no longer fit it
 */
async function runUnwatched(
  bridge: OpenTenant,
  { workflow: name, words, zone, sha256, allowed }: Schedule,
  due: Date,
  run: RunOrigin,
): Promise<Ended> {
  const { own, catalog, settings } = bridge
  const workflow = asWorkflow(await savedOf(own).tools.find(functionName(name)))
  const args = parseArguments(words, workflow.workflow.parameters, due, zone)
  const { gone } = await driftOf(workflow.workflow, catalog, settings.packages)
  if (gone.length > 0) return { problem: `Nothing was called. ${gone.join(' ')}` }
  const flows = await DeclaredFlows.of(bridge, workflow)
  const { flows: declared, hasChanged } = await flows.read()
  const isScheduled = sha256 === flows.sha256
  const isOther = hasChanged || (declared === undefined && !isScheduled)
  if (isOther && bridge.rules.shared?.judgesFlow)
    return {
      problem: `Nothing was called: ${CHANGED}. Read it, and run it once in a terminal: sandbridge run-workflow ${name}`,
    }
  const journal = await new RunJournals(bridge, workflow.name).begin(workflow.version, args, WORKFLOW_TIMEOUT_MS)
  let isOk = false
  const session = bridge.openSession()
  try {
    const { status, error, notes, notDone } = await bridge.cells.run(session, {
      code: codeFor(workflow, args),
      timeoutMs: WORKFLOW_TIMEOUT_MS,
      journal: journal.cell,
      allowed: isScheduled ? usesNamed(workflow.workflow.uses, allowed) : [],
      workflow: watchedFlows(workflow, declared),
      run,
    })
    isOk = status === 'ok'
    if (isOk) {
      await journal.end()
      return { notDone }
    }
    return { problem: error ? `${error.name}: ${error.message}` : `${status}. ${notes.join(' ')}`.trim() }
  } finally {
    if (!isOk) await journal.fail()
    await bridge.closeSession(session)
  }
}
