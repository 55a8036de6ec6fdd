// The journals of a workflow's runs: those of packages/once, kept until a run has ended well. A resumed run is the same
// cell again: it gets the answers of the run that failed, and makes no call twice. Each run has a log of its own,
// because several runs of a workflow may go on at once; each of its lines is on the disk before its call is made.
import * as z from 'zod'
import type { OpenTenant } from '@sandbridge/core/bridge'
import { signInVault } from '@sandbridge/core/upstream/auth'
import type { CellJournal } from '@sandbridge/core/parts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { sortedJson } from '@sandbridge/core/util/json'
import { stillRuns, thisProcess } from '@sandbridge/core/util/process'
import type { ToolResult } from '@sandbridge/core/upstream'
import type { Decide, Entry } from '@sandbridge/once/entry.ts'
import { Journal } from '@sandbridge/once/journal.ts'
import { JournalLog, type LogPlace, readLog } from '@sandbridge/once/journal-log.ts'
import { maker } from '../schedule/schedules.ts'

const NAME = /^unfinished-/
/** Maximum number of failed runs that are kept for each workflow. */
const MAX_FAILED = 20
/** A run may end this much later than its timeout, while its sandbox is stopped. */
const GRACE_MS = 2 * 60_000
const HINT =
  'Look at what it did. Then use --resume with --unanswered again to make the call again, or with --unanswered and a JSON value to take that as its answer.'

/** Who makes the run, and until when at most. */
const owner = z.object({ by: maker, until: z.string() })
type Owner = z.infer<typeof owner>

/** The first line. */
const head = owner.extend({ version: z.int(), args: z.record(z.string(), z.unknown()), startedAt: z.string() })
type Head = z.infer<typeof head>

/** A run that has not ended well. */
export interface EarlierRun extends Pick<Head, 'version' | 'args' | 'startedAt'> {
  name: string
  /** Set while it runs, as far as can be known. */
  owner: Owner | undefined
  entries: Entry[]
  /** It has made more calls. */
  isFull: boolean
}

export class RunJournals {
  readonly #store: ReturnType<OpenTenant['stores']['of']>
  readonly #workflow: string
  readonly #common: Omit<LogPlace, 'name'>

  constructor({ stores, settings, log }: Pick<OpenTenant, 'stores' | 'settings' | 'log'>, workflow: string) {
    this.#store = stores.of(undefined)
    this.#workflow = workflow
    // Like recorded responses, they are in a database as they are.
    const vault = stores.isShared ? undefined : signInVault(settings, log)
    this.#common = { logs: this.#store.logs(`workflows/${workflow}`), vault, log }
  }

  /** The runs of the workflow that have not ended well, those that still run included; newest first. */
  async earlier(): Promise<EarlierRun[]> {
    const logs = await this.#common.logs.list()
    const runs = await Promise.all(logs.filter(({ name }) => NAME.test(name)).map(({ name }) => this.#read(name)))
    return runs.flatMap((run) => run ?? []).toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
  }

  /** Begins the journal of a new run. It replaces those of failed runs with the same arguments. */
  begin(version: number, args: Record<string, unknown>, timeoutMs: number): Promise<RunJournal> {
    return this.#alone(async () => {
      const ended = (await this.earlier()).filter((run) => run.owner === undefined)
      const same = ended.filter((run) => hasArguments(run, args))
      const others = ended.filter((run) => !same.includes(run))
      for (const { name } of [...same, ...others.slice(MAX_FAILED - 1)]) await this.#common.logs.remove(name)
      return this.#open({ version, args, startedAt: new Date().toISOString(), ...ownerFor(timeoutMs) })
    })
  }

  /**
   * Goes on with the journal of a failed run.
   * @throws BridgeError STATE_REFUSED when another process resumes it or has ended it
   */
  resume({ name, startedAt }: EarlierRun, timeoutMs: number, decide?: Decide): Promise<RunJournal> {
    return this.#alone(async () => {
      const run = await this.#read(name)
      if (!run) throw nothingToResume(`the run of ${startedAt} has ended well or was begun anew meanwhile`)
      if (run.owner) throw stillRunning(run.startedAt, run.owner)
      const { version, args } = run
      const resumed = await this.#open({ version, args, startedAt, ...ownerFor(timeoutMs) }, run, decide)
      await this.#common.logs.remove(name)
      return resumed
    })
  }

  async #open(first: Head, earlier?: EarlierRun, decide?: Decide): Promise<RunJournal> {
    const place = { ...this.#common, name: `unfinished-${crypto.randomUUID()}.jsonl` }
    const journal = new Journal(new JournalLog(place, first, true), Infinity)
    if (earlier) journal.take(earlier.entries, earlier.isFull)
    await journal.log.written()
    return new RunJournal(journal, decide)
  }

  /** Undefined if there is no journal. */
  async #read(name: string): Promise<EarlierRun | undefined> {
    const { head: first, entries, isFull, last } = await readLog({ ...this.#common, name })
    const { data } = head.safeParse(first)
    if (!data) return undefined
    const isOver = last?.['failed'] === true || !isRunning(data)
    return { name, ...data, owner: isOver ? undefined : data, entries, isFull }
  }

  /** No other process begins or resumes a run of the workflow meanwhile. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#store.exclusively(`workflows/${this.#workflow}/unfinished`, work)
  }
}

export class RunJournal {
  /** Of the one cell that runs the workflow. */
  readonly cell: CellJournal
  readonly #journal: Journal

  constructor(journal: Journal, decide?: Decide) {
    this.#journal = journal
    const attempt = journal.begin({ decide, hint: HINT, isAnyEntry: true })
    // Its command says how many calls were answered before.
    this.cell = { enter: (call) => attempt.enter(call), ended: () => undefined, lost: () => {} }
  }

  /** The run succeeded. */
  end(): Promise<void> {
    return this.#journal.log.close(false)
  }

  /**
   * The run failed, and can be resumed from now on. Never rejects.
   * @returns how many calls with an effect were answered, and how many were not
   */
  async fail(): Promise<{ answered: number; unanswered: number }> {
    // On a full disk, the run counts as failed once this process has ended.
    void this.#journal.log.add({ failed: true })
    await this.#journal.log.close(true)
    return countEffects({ entries: [...this.#journal.entries()] })
  }
}

/** A call without an answer may or may not have taken effect. */
export function countEffects(run: Pick<EarlierRun, 'entries'> | undefined): { answered: number; unanswered: number } {
  const count = (state: Entry['state']): number => run?.entries.filter((one) => one.state === state).length ?? 0
  return { answered: count('answered'), unanswered: count('sent') }
}

const ownerFor = (timeoutMs: number): Owner => ({
  by: thisProcess(),
  until: new Date(Date.now() + timeoutMs + GRACE_MS).toISOString(),
})

/** A process that cannot be checked counts as running for as long as its run may take. */
const isRunning = ({ by, until }: Owner): boolean => stillRuns(by) ?? Date.now() < Date.parse(until)

function hasArguments(run: EarlierRun, args: Record<string, unknown>): boolean {
  return sortedJson(run.args) === sortedJson(args)
}

/** The run whose arguments a run without any takes: the newest one that failed, if there is one. */
export function newestOf(runs: readonly EarlierRun[]): EarlierRun | undefined {
  return runs.find((run) => run.owner === undefined) ?? runs[0]
}

/** The newest failed run with these arguments. */
export function failedWith(runs: readonly EarlierRun[], args: Record<string, unknown>): EarlierRun | undefined {
  return runs.find((run) => run.owner === undefined && hasArguments(run, args))
}

/**
 * Finds the run to resume. It must match the new one, because its calls are identified by their arguments.
 * @throws BridgeError STATE_REFUSED
 */
export function findResumable(runs: readonly EarlierRun[], version: number, args: Record<string, unknown>): EarlierRun {
  const found = failedWith(runs, args)
  const running = runs.find((run) => hasArguments(run, args))
  if (!found && running?.owner) throw stillRunning(running.startedAt, running.owner)
  if (!found && runs.some((run) => run.owner === undefined))
    throw nothingToResume('the run that failed had other arguments')
  if (!found) throw noneToResume()
  if (found.version !== version)
    throw nothingToResume(`the run that failed was of version ${found.version}, and this is ${version}`)
  return found
}

/** No run of the workflow has failed. */
export function noneToResume(): BridgeError {
  return nothingToResume('the last run ended well, or there was none')
}

function nothingToResume(reason: string): BridgeError {
  return new BridgeError('STATE_REFUSED', `There is nothing to resume: ${reason}`, { hint: 'Run it without --resume.' })
}

function stillRunning(startedAt: string, { by, until }: Owner): BridgeError {
  const isKnown = stillRuns(by) !== undefined
  return new BridgeError('STATE_REFUSED', `The run of ${startedAt} has not ended: process ${by.pid} makes it`, {
    hint: isKnown
      ? 'Wait for its end.'
      : `Wait for its end. The bridge cannot see whether that process still runs, and waits until ${until} at most.`,
  })
}

/** A result as a server sends it. */
export function resultOf(value: unknown): ToolResult {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { content: [{ type: 'text', text }], ...(isRecord(value) && { structuredContent: value }) }
}
