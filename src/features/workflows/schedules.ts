// The schedules of workflows, in one document that several bridges share. A bridge claims a run in it first, so that
// only one bridge makes the run.
import * as z from 'zod'
import { hostId, isRunning } from '../../util/process/process-id.ts'
import { JsonRecord } from '../../keep/json-record.ts'
import type { Store } from '../../keep/store.ts'
import { timesBetween } from './cron-times.ts'

/**
 * A due run may start this much later: the machine was busy or asleep, the run before had not ended, or the bridge that
 * claimed it died.
 */
const GRACE_MS = 2 * 60_000
const MAX_KEPT_RUNS = 20
/** The timeout of a run, the same as in a terminal. */
export const WORKFLOW_TIMEOUT_MS = 3_600_000

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
  /** The process that makes the run. */
  by: z.object({ host: z.string(), pid: z.int() }).optional(),
})

const schedule = z.object({
  workflow: z.string(),
  /** Five cron fields, and their time zone. */
  when: z.string(),
  zone: z.string(),
  /** The parameters, as on a command line. */
  words: z.array(z.string()),
  /** The workflow's version when it was scheduled. */
  version: z.int(),
  /**
   * `writtenHash` at that time: the allowed calls apply to this code only. Missing in what older versions scheduled,
   * for which the version counts.
   */
  sha256: z.string().optional(),
  /** `server__tool`: calls that rules would ask about. */
  allowed: z.array(z.string()),
  /** Times up to this one have been handled. */
  considered: z.string(),
  runs: z.array(run),
})

export type Schedule = z.infer<typeof schedule>
export type ScheduledRun = z.infer<typeof run>
type Schedules = Record<string, Schedule>

/** A run to make or to report now. */
export interface Due {
  id: string
  schedule: Schedule
  run: ScheduledRun
  /** How many due times it covers: more than one when several were missed. */
  count: number
}

export interface Added {
  /** The workflow's name, with a number when that is taken. */
  id: string
  /** The schedules in whose place it stands; empty for a new one. */
  replaced: string[]
  /** Other schedules of the same workflow. */
  others: string[]
}

export class ScheduleStore {
  readonly #record: JsonRecord<Schedules>

  constructor(store: Store) {
    this.#record = new JsonRecord<Schedules>({
      document: store.document('schedules.json'),
      empty: () => Object.create(null) as Schedules,
      parse: (json) => z.record(z.string(), schedule).safeParse(json).data,
      damaged: { record: 'The file of schedules', hint: 'Repair or delete it, and schedule the workflows again.' },
    })
  }

  list(): Promise<Schedules> {
    return this.#record.read()
  }

  /** Adds a schedule, or replaces those of the same workflow, time and parameters: each would run beside the others. */
  async add(added: Omit<Schedule, 'considered' | 'runs'>, now: Date): Promise<Added> {
    let result: Added = { id: added.workflow, replaced: [], others: [] }
    await this.#record.update((all) => {
      const ids = Object.keys(all).filter((id) => all[id]!.workflow === added.workflow)
      const replaced = ids.filter((id) => runsTheSame(all[id]!, added))
      const [first, ...doubles] = replaced
      let id = first ?? added.workflow
      if (first === undefined)
        for (let number = 2; Object.hasOwn(all, id); number += 1) id = `${added.workflow}-${number}`
      const { considered, runs } = first === undefined ? { considered: now.toISOString(), runs: [] } : all[first]!
      all[id] = { ...added, considered, runs }
      for (const double of doubles) delete all[double]
      result = { id, replaced, others: ids.filter((other) => !replaced.includes(other)) }
    })
    return result
  }

  /** @returns whether it existed */
  async remove(id: string): Promise<boolean> {
    let isThere = false
    await this.#record.update((all) => {
      isThere = Object.hasOwn(all, id)
      delete all[id]
    })
    return isThere
  }

  /** Claims the due runs: no other bridge gets them. */
  async claim(now: Date): Promise<Due[]> {
    const takeAll = (all: Schedules): Due[] => Object.entries(all).flatMap(([id, one]) => take(id, one, now))
    const listed = await this.list()
    const before = JSON.stringify(listed)
    takeAll(listed)
    if (JSON.stringify(listed) === before) return []
    let due: Due[] = []
    await this.#record.update((all) => void (due = takeAll(all)))
    return due
  }

  /** Records the outcome of a claimed run. */
  async end(
    id: string,
    { due }: ScheduledRun,
    ended: Pick<ScheduledRun, 'outcome' | 'message'>,
    now: Date,
  ): Promise<void> {
    await this.#record.update((all) => {
      const found = all[id]?.runs.find((one) => one.due === due)
      if (found) Object.assign(found, ended, { endedAt: now.toISOString() })
    })
  }
}

type Plan = Pick<Schedule, 'when' | 'zone' | 'words'>

function runsTheSame(one: Plan, other: Plan): boolean {
  const key = ({ when, zone, words }: Plan): string => JSON.stringify([when.trim().split(/\s+/), zone, words])
  return key(one) === key(other)
}

/** A clock that was set back repeats no time: a time that has a run is done. */
function dueTimes({ when, zone, considered, runs }: Schedule, now: Date): Date[] {
  const since = new Date(considered) <= now ? new Date(considered) : new Date(now.getTime() - GRACE_MS)
  return timesBetween(when, zone, since, now).filter((time) => runs.every(({ due }) => due !== time.toISOString()))
}

/**
 * Changes the schedule: marks its times up to now as handled, begins the newest one or lets it wait, and gives every
 * other one its outcome.
 */
function take(id: string, one: Schedule, now: Date): Due[] {
  const isLate = (due: string): boolean => now.getTime() - Date.parse(due) > GRACE_MS
  const times = dueTimes(one, now).map((time) => time.toISOString())
  const missed = times.filter(isLate)
  const fresh = times.slice(missed.length)
  const waiting = one.runs.find(({ waitsFor, outcome }) => waitsFor !== undefined && outcome === undefined)
  const last = fresh.pop()
  const before = last !== undefined || waiting ? unfinished(one, now) : undefined
  const taken: Due[] = []
  const tell = (told: ScheduledRun, count = 1): void => void taken.push({ id, schedule: one, run: told, count })
  const add = (added: ScheduledRun): ScheduledRun => {
    one.runs = [...one.runs, added].slice(-MAX_KEPT_RUNS)
    return added
  }
  const started = { startedAt: now.toISOString(), by: { host: hostId(), pid: process.pid } }
  if (waiting && (last !== undefined || isLate(waiting.due))) {
    tell(Object.assign(waiting, { outcome: 'skipped', message: notEnded(waiting.waitsFor!) }))
  } else if (waiting && !before) {
    delete waiting.waitsFor
    tell(Object.assign(waiting, started))
  }
  if (missed.length > 0)
    tell(add({ due: missed.at(-1)!, outcome: 'missed', message: missedMessage(missed.length) }), missed.length)
  for (const due of fresh) {
    tell(add({ due, outcome: 'skipped', message: before ? notEnded(before.due) : `The run of ${last} replaces it.` }))
  }
  if (last !== undefined) {
    if (before) add({ due: last, waitsFor: before.due })
    else tell(add({ due: last, ...started }))
  }
  if (times.length > 0) one.considered = now.toISOString()
  return taken
}

const notEnded = (due: string): string => `The run of ${due} had not ended.`

function missedMessage(count: number): string {
  const earlier = count === 1 ? '' : ` The ${count - 1} times before it were missed, too.`
  return `No bridge served HTTP within ${GRACE_MS / 60_000} minutes of that time, or it was paused.${earlier}`
}

/** The run in progress. A run whose bridge has died has ended. */
function unfinished({ runs }: Schedule, now: Date): ScheduledRun | undefined {
  for (const one of runs) {
    const { by, outcome, startedAt = '' } = one
    if (outcome !== undefined || !by) continue
    // A process on another machine cannot be checked.
    const mayGoOn = now.getTime() - Date.parse(startedAt) < WORKFLOW_TIMEOUT_MS + GRACE_MS
    if (by.host === hostId() ? isRunning(by.pid) : mayGoOn) return one
    Object.assign(one, { outcome: 'failed', message: 'The bridge that ran it has died.' })
  }
  return undefined
}
