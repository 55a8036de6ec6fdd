// Schedules in one document that bridges share. One claims a run in it first, and is the only one to make it.
import * as z from 'zod'
import { stillRuns, thisProcess } from '@sandbridge/core/util/process'
import { JsonDocument, type Store } from '@sandbridge/core/util/stores'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { MAX_TIMES, timesBetween } from './cron-times.ts'

/**
 * A due run may start this much later: the machine was busy or asleep, the run before had not ended, or the bridge that
 * claimed it died.
 */
const GRACE_MS = 2 * 60_000
const MAX_KEPT_RUNS = 20
const MAX_STRETCHES = 20
/** The timeout of a run, the same as in a terminal. */
export const WORKFLOW_TIMEOUT_MS = 3_600_000

/** The process that makes a run. */
export const maker = z.object({ host: z.string(), pid: z.int(), started: z.string().optional() })

const run = z.object({
  /** Due time and start time. */
  due: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  /**
   * Missing while it runs or waits. `missed`: no bridge was serving. `skipped`: another run was made in its place or
   * had not ended.
   */
  outcome: z.enum(['ok', 'failed', 'missed', 'skipped']).optional(),
  message: z.string().optional(),
  /** The due time of the run whose end it waits for. */
  waitsFor: z.string().optional(),
  by: maker.optional(),
})

const schedule = z.object({
  workflow: z.string(),
  /** Five cron fields, and their time zone. */
  when: z.string(),
  zone: z.string(),
  /** The parameters, as on a command line. */
  words: z.array(z.string()),
  /** `writtenHash` at that time: the allowed calls apply to this code only. */
  sha256: z.string(),
  /** `server__tool`: calls that rules would ask about. */
  allowed: z.array(z.string()),
  /** Times up to this one have been handled. */
  considered: z.string(),
  runs: z.array(run),
  /**
   * Due times from one to another that all have had a run or an outcome, also those that `runs` no longer has. A break
   * or a clock that is set begins a new stretch.
   */
  handled: z.array(z.object({ from: z.string(), to: z.string() })),
})

export type Schedule = z.infer<typeof schedule>
export type ScheduledRun = z.infer<typeof run>
type Schedules = Record<string, Schedule>

interface Stored {
  schedules: Schedules
  /** Entries that cannot be read, as they are: they hold up no other one. */
  unreadable: Record<string, unknown>
}

/** A run to make or to report now. */
export interface Due {
  id: string
  schedule: Schedule
  run: ScheduledRun
  /** How many due times it covers: more than one when several were missed. */
  count: number
}

/** Is told of a schedule that cannot be read here, for example in a time zone that this Node does not know. */
type ReportUnreadable = (id: string, error: unknown) => void

/** The age in milliseconds of a run of this bridge, by its due time; Infinity for others. */
type OwnAge = (due: string) => number

export interface Added {
  /** The workflow's name, with a number when that is taken. */
  id: string
  /** The schedules in whose place it stands; empty for a new one. */
  replaced: string[]
  /** Other schedules of the same workflow. */
  others: string[]
}

export class ScheduleStore {
  readonly #document: JsonDocument<Stored>
  /** Runs that were claimed here and have not ended, with their start on a clock that stands still with the machine. */
  readonly #own = new Map<string, number>()

  constructor(store: Store) {
    this.#document = new JsonDocument<Stored>({
      document: store.document('schedules.json'),
      empty: () => readEach({}),
      parse: (json) => (isRecord(json) ? readEach(json) : undefined),
      serialize: ({ schedules, unreadable }) => ({ ...unreadable, ...schedules }),
      damaged: { name: 'The file of schedules', hint: 'Repair or delete it, and schedule the workflows again.' },
    })
  }

  async list(): Promise<Schedules> {
    return (await this.#document.read()).schedules
  }

  /** The names of entries that cannot be read. */
  async unreadable(): Promise<string[]> {
    return Object.keys((await this.#document.read()).unreadable)
  }

  /** Adds a schedule, or replaces those of the same workflow, time and parameters: each would run beside the others. */
  async add(added: Omit<Schedule, 'considered' | 'runs' | 'handled'>, now: Date): Promise<Added> {
    let result: Added = { id: added.workflow, replaced: [], others: [] }
    await this.#document.update(({ schedules: all, unreadable }) => {
      const ids = Object.keys(all).filter((id) => all[id]!.workflow === added.workflow)
      const replaced = ids.filter((id) => runsTheSame(all[id]!, added))
      const [first, ...doubles] = replaced
      let id = first ?? added.workflow
      if (first === undefined)
        for (let number = 2; Object.hasOwn(all, id) || Object.hasOwn(unreadable, id); number += 1)
          id = `${added.workflow}-${number}`
      const { considered, runs, handled } =
        first === undefined ? { considered: now.toISOString(), runs: [], handled: [] } : all[first]!
      all[id] = { ...added, considered, runs, handled }
      for (const double of doubles) delete all[double]
      result = { id, replaced, others: ids.filter((other) => !replaced.includes(other)) }
    })
    return result
  }

  /** @returns whether it existed */
  async remove(id: string): Promise<boolean> {
    let isThere = false
    await this.#document.update((stored) => {
      isThere = Object.values(stored).some((all) => Object.hasOwn(all, id))
      for (const all of Object.values(stored)) delete all[id]
    })
    return isThere
  }

  /** Claims the due runs: no other bridge gets them. A schedule that cannot be read holds up no other one. */
  async claim(now: Date, report: ReportUnreadable = () => {}): Promise<Due[]> {
    const takeOne = (id: string, one: Schedule): Due[] => {
      try {
        return take(id, one, now, (due) => performance.now() - (this.#own.get(keyOf(id, due)) ?? -Infinity))
      } catch (error) {
        report(id, error)
        return []
      }
    }
    const takeAll = (all: Schedules): Due[] => Object.entries(all).flatMap(([id, one]) => takeOne(id, one))
    const { schedules: listed, unreadable } = await this.#document.read()
    for (const id of Object.keys(unreadable))
      report(id, 'Its entry in schedules.json cannot be read: remove it, or repair it')
    const before = JSON.stringify(listed)
    takeAll(listed)
    if (JSON.stringify(listed) === before) return []
    let due: Due[] = []
    await this.#document.update(({ schedules }) => void (due = takeAll(schedules)))
    for (const { id, run: claimed } of due)
      if (claimed.outcome === undefined) this.#own.set(keyOf(id, claimed.due), performance.now())
    return due
  }

  /** Records the outcome of a claimed run. */
  async end(
    id: string,
    { due }: ScheduledRun,
    ended: Pick<ScheduledRun, 'outcome' | 'message'>,
    now: Date,
  ): Promise<void> {
    this.#own.delete(keyOf(id, due))
    await this.#document.update(({ schedules }) => {
      const found = schedules[id]?.runs.find((one) => one.due === due)
      // Not with the message of a run that another bridge took for ended.
      if (found) Object.assign(found, { message: undefined, ...ended, endedAt: now.toISOString() })
    })
  }
}

function readEach(json: Record<string, unknown>): Stored {
  const stored: Stored = { schedules: Object.create(null) as Schedules, unreadable: {} }
  for (const [id, entry] of Object.entries(json)) {
    const { data } = schedule.safeParse(entry)
    if (data) stored.schedules[id] = data
    else stored.unreadable[id] = entry
  }
  return stored
}

type Plan = Pick<Schedule, 'when' | 'zone' | 'words'>

function runsTheSame(one: Plan, other: Plan): boolean {
  const key = ({ when, zone, words }: Plan): string => JSON.stringify([when.trim().split(/\s+/), zone, words])
  return key(one) === key(other)
}

const keyOf = (id: string, due: string): string => `${due} ${id}`

/** The times since the last look. `isCut`: there were more of them. */
function dueTimes({ when, zone, considered, runs, handled }: Schedule, now: Date): { times: string[]; isCut: boolean } {
  const since = new Date(considered) <= now ? new Date(considered) : new Date(now.getTime() - GRACE_MS)
  const found = timesBetween(when, zone, since, now).map((time) => time.toISOString())
  // A clock that was set back repeats no time.
  const isDone = (time: string): boolean =>
    runs.some(({ due }) => due === time) || handled.some(({ from, to }) => from <= time && time <= to)
  return { times: found.filter((time) => !isDone(time)), isCut: found.length === MAX_TIMES }
}

/**
 * Changes the schedule: marks its times up to now as handled, begins the newest one or lets it wait, and gives every
 * other one its outcome.
 */
function take(id: string, one: Schedule, now: Date, ownAge: OwnAge): Due[] {
  const isLate = (due: string): boolean => now.getTime() - Date.parse(due) > GRACE_MS
  const { times, isCut } = dueTimes(one, now)
  const missed = times.filter(isLate)
  const fresh = times.slice(missed.length)
  const waiting = one.runs.find(({ waitsFor, outcome }) => waitsFor !== undefined && outcome === undefined)
  const last = fresh.pop()
  const before = last !== undefined || waiting ? unfinished(one, now, ownAge) : undefined
  const taken: Due[] = []
  const tell = (told: ScheduledRun, count = 1): void => void taken.push({ id, schedule: one, run: told, count })
  const add = (added: ScheduledRun): ScheduledRun => {
    one.runs = cut([...one.runs, added])
    return added
  }
  const started = { startedAt: now.toISOString(), by: thisProcess() }
  if (waiting && (last !== undefined || isLate(waiting.due))) {
    tell(Object.assign(waiting, { outcome: 'skipped', message: notEnded(waiting.waitsFor!) }))
  } else if (waiting && !before) {
    delete waiting.waitsFor
    tell(Object.assign(waiting, started))
  }
  if (missed.length > 0)
    tell(add({ due: missed.at(-1)!, outcome: 'missed', message: missedMessage(missed.length, isCut) }), missed.length)
  for (const due of fresh) {
    tell(add({ due, outcome: 'skipped', message: before ? notEnded(before.due) : `The run of ${last} replaces it.` }))
  }
  if (last !== undefined) {
    if (before) add({ due: last, waitsFor: before.due })
    else tell(add({ due: last, ...started }))
  }
  if (times.length > 0) {
    const isBreak = missed.length > 0 || new Date(one.considered) > now
    one.handled = withStretch(one.handled, times.slice(Math.max(0, missed.length - 1)), isBreak)
    one.considered = now.toISOString()
  }
  return taken
}

/** A run without an outcome still counts, however many came after it. */
function cut(runs: ScheduledRun[]): ScheduledRun[] {
  return runs.filter(({ outcome }, at) => outcome === undefined || at >= runs.length - MAX_KEPT_RUNS)
}

/** @param times those that were handled now, oldest first; of missed times, the one that is recorded */
function withStretch(before: Schedule['handled'], times: string[], isBreak: boolean): Schedule['handled'] {
  const [from, to] = [times[0]!, times.at(-1)!]
  const last = before.at(-1)
  if (last && !isBreak) return [...before.slice(0, -1), { from: last.from, to }]
  return [...before, { from, to }].slice(-MAX_STRETCHES)
}

const notEnded = (due: string): string => `The run of ${due} had not ended.`

function missedMessage(count: number, isCut: boolean): string {
  const earlier = `${isCut ? 'At least' : 'The'} ${count - 1} times before it were missed, too.`
  const why = `No bridge served HTTP within ${GRACE_MS / 60_000} minutes of that time, or it was paused.`
  return count === 1 ? why : `${why} ${earlier}`
}

/**
 * The run in progress. A run whose bridge has died has ended, and one that is older than any run gets. The age of a run
 * of this bridge leaves out the time in which the machine slept, as its time limit does.
 */
function unfinished({ runs }: Schedule, now: Date, ownAge: OwnAge): ScheduledRun | undefined {
  for (const one of runs) {
    const { by, due, outcome, startedAt = '' } = one
    if (outcome !== undefined || !by) continue
    const hasDied = stillRuns(by) === false
    const age = now.getTime() - Date.parse(startedAt)
    const mayGoOn = Math.min(age, by.pid === process.pid ? ownAge(due) : age) < WORKFLOW_TIMEOUT_MS + GRACE_MS
    if (!hasDied && mayGoOn) return one
    const message = hasDied ? 'The bridge that ran it has died.' : 'Its bridge has not recorded its end.'
    Object.assign(one, { outcome: 'failed', message })
  }
  return undefined
}
