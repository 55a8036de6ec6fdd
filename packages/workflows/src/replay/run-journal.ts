// Journals the effects of a workflow's run: each call of a tool that is not known to be read-only, before it is made
// and after its reply. A resumed run gets these replies again and makes no call twice. Each run has a file of its own,
// because several runs of a workflow may go on at once.
import { constants } from 'node:fs'
import { appendFile, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import type { Catalog } from '@sandbridge/core/calls/catalog'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { stateAfter } from '@sandbridge/core/observe/runs'
import { makePrivateFolder, readOrdinary, replaceFile, withFileLock } from '@sandbridge/core/util/files'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { sortedJson } from '@sandbridge/core/util/json'
import { stillRuns, thisProcess } from '@sandbridge/core/util/process'
import type { ToolResult, Upstreams } from '@sandbridge/core/upstream'
import { maker } from '../schedules.ts'
import { keyOf } from './fixture.ts'
import { tappedUpstreams, type ToolCall } from './tapped-upstreams.ts'

/** The name of a journal. Older versions had one for all runs of a workflow: `unfinished.jsonl`. */
const NAME = /^unfinished(-[0-9a-f-]+)?\.jsonl$/
/** Maximum number of failed runs that are kept for each workflow. */
const MAX_FAILED = 20
/** A run may end this much later than its timeout, while its sandbox is stopped. */
const GRACE_MS = 2 * 60_000

/** Who makes the run, and until when at most. */
const owner = z.object({ by: maker, until: z.string() })
type Owner = z.infer<typeof owner>

/** The first line. */
const head = z.object({ version: z.int(), args: z.record(z.string(), z.unknown()), startedAt: z.string() })
const effect = z.object({ place: z.string(), result: z.unknown().optional(), refused: z.literal(true).optional() })
const failed = z.object({ failed: z.literal(true) })

interface Effect {
  /** Missing for a call that was sent and has no reply. */
  result?: unknown
}

/** What becomes of a call that was sent in the run that failed and never answered; undefined: the run fails there. */
type Decision = 'again' | { value: unknown } | undefined

/** Asks for each such call. */
export type DecideUnanswered = (call: ToolCall) => Decision | Promise<Decision>

/** A run that has not ended well. */
export interface EarlierRun {
  file: string
  version: number
  args: Record<string, unknown>
  startedAt: string
  /** Set while it runs, as far as can be known. */
  owner: Owner | undefined
  /** By position. */
  effects: Map<string, Effect>
}

export class RunJournal {
  readonly #folder: string
  #file: string

  constructor(stateDir: string, workflow: string) {
    this.#folder = path.join(stateDir, '.sandbridge', 'workflows', workflow)
    this.#file = path.join(this.#folder, `unfinished-${crypto.randomUUID()}.jsonl`)
  }

  /** The runs of the workflow that have not ended well, those that still run included; newest first. */
  async earlier(): Promise<EarlierRun[]> {
    const names = await readdir(this.#folder).catch(() => [])
    const files = names.filter((name) => NAME.test(name)).map((name) => path.join(this.#folder, name))
    const runs = await Promise.all(files.map((file) => readRun(file)))
    return runs.flatMap((run) => run ?? []).toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
  }

  /** Begins the journal of a new run. It replaces those of failed runs with the same arguments. */
  async begin(version: number, args: Record<string, unknown>, timeoutMs: number): Promise<void> {
    await makePrivateFolder(this.#folder)
    await this.#alone(async () => {
      const ended = (await this.earlier()).filter((run) => run.owner === undefined)
      const same = ended.filter((run) => hasArguments(run, args))
      const others = ended.filter((run) => !same.includes(run))
      for (const { file } of [...same, ...others.slice(MAX_FAILED - 1)]) await rm(file, { force: true })
      // Written as a whole: another process never sees half of the line.
      const first = { version, args, startedAt: new Date().toISOString(), ...ownerFor(timeoutMs) }
      await replaceFile(this.#file, `${JSON.stringify(first)}\n`)
    })
  }

  /**
   * Goes on with the journal of a failed run.
   * @returns the run as it is now
   * @throws BridgeError STATE_REFUSED when another process resumes it or has ended it
   */
  async resume({ file, startedAt }: EarlierRun, timeoutMs: number): Promise<EarlierRun> {
    return this.#alone(async () => {
      const run = await readRun(file)
      if (!run) throw nothingToResume(`the run of ${startedAt} has ended well or was begun anew meanwhile`)
      if (run.owner) throw stillRunning(run.startedAt, run.owner)
      this.#file = file
      // The line that a killed run was writing ends here, and not in the next one.
      const text = await readOrdinary(file)
      if (text.at(-1) !== 0x0a) await appendFile(file, '\n')
      await this.#add(ownerFor(timeoutMs))
      return run
    })
  }

  /** The run succeeded. */
  async end(): Promise<void> {
    await rm(this.#file, { force: true })
  }

  /**
   * The run failed, and can be resumed from now on. Never throws.
   * @returns how many calls with an effect were answered, and how many were not
   */
  async fail(): Promise<{ answered: number; unanswered: number }> {
    // On a full disk, the run counts as failed once this process has ended.
    await this.#add({ failed: true }).catch(() => {})
    return countEffects(await readRun(this.#file))
  }

  /** Upstreams whose effects are journaled, and replayed from the earlier run where it has them. */
  watch(
    upstreams: Upstreams,
    catalog: Pick<Catalog, 'findTool'>,
    resumed?: EarlierRun,
    decide: DecideUnanswered = () => undefined,
  ): Upstreams {
    const counts = new Map<string, number>()
    return tappedUpstreams(upstreams, async (call, send) => {
      const { definition } = await catalog.findTool(call.server, call.tool)
      if (definition.annotations?.readOnlyHint === true) return send()
      const key = keyOf(call)
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      const place = sortedJson([count, key])
      const before = resumed?.effects.get(place)
      if (before && 'result' in before) return before.result as ToolResult
      if (before) {
        const decision = await decide(call)
        if (decision === undefined) throw unknownEffect(call.server, call.tool)
        if (decision !== 'again') {
          const result = resultOf(decision.value)
          await this.#add({ place, result })
          return result
        }
      }
      await this.#add({ place })
      try {
        const result = await send()
        // A call that its tool refused is made again.
        await this.#add(result.isError === true ? { place, refused: true } : { place, result })
        return result
      } catch (error) {
        if (BridgeError.isInstance(error) && stateAfter(error.code) !== 'unknown')
          await this.#add({ place, refused: true })
        throw error
      }
    })
  }

  /** Creates no file: a reply that comes after the run has ended, and its journal is gone, is not kept. */
  async #add(line: object): Promise<void> {
    const flag = constants.O_APPEND | constants.O_WRONLY
    try {
      await appendFile(this.#file, `${JSON.stringify(line)}\n`, { flag, flush: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }

  /** No other process begins or resumes a run of the workflow meanwhile. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(path.join(this.#folder, 'unfinished.lock'), work)
  }
}

/** A call without an answer may or may not have taken effect. */
export function countEffects(run: EarlierRun | undefined): { answered: number; unanswered: number } {
  const effects = [...(run?.effects.values() ?? [])]
  const answered = effects.filter((one) => 'result' in one).length
  return { answered, unanswered: effects.length - answered }
}

/** Returns undefined if there is no journal. A truncated line is skipped. */
async function readRun(file: string): Promise<EarlierRun | undefined> {
  const text = await readOrdinary(file).then(String, () => '')
  const [first = '', ...lines] = text.split('\n')
  const began = parseJson(first)
  const about = head.safeParse(began)
  if (!about.success) return undefined
  const effects = new Map<string, Effect>()
  let last = owner.safeParse(began).data
  for (const line of lines) {
    const read = parseJson(line)
    const { data } = effect.safeParse(read)
    if (data?.refused) effects.delete(data.place)
    else if (data) effects.set(data.place, data.result === undefined ? {} : { result: data.result })
    else if (failed.safeParse(read).success) last = undefined
    else last = owner.safeParse(read).data ?? last
  }
  return { file, ...about.data, owner: last && isRunning(last) ? last : undefined, effects }
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
function resultOf(value: unknown): ToolResult {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { content: [{ type: 'text', text }], ...(isRecord(value) && { structuredContent: value }) }
}

function unknownEffect(server: string, tool: string): BridgeError {
  return new BridgeError(
    'CANCELLED',
    `${server}.${tool} was called in the run that failed and never answered: it may or may not have taken effect`,
    {
      hint: 'Look at what it did. Then use --resume with --unanswered again to make the call again, or with --unanswered and a JSON value to take that as its answer.',
    },
  )
}
