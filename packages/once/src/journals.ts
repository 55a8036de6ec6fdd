// The journals of one user's sessions. A session takes calls from those of its client's other sessions that are over.
import { randomUUID } from 'node:crypto'
import type { CellToJournal, JournaledSession, Journals, JournalsOptions } from '@sandbridge/core/parts'
import type { Logs } from '@sandbridge/core/util/stores'
import { type RecordedProcess, stillRuns, thisProcess } from '@sandbridge/core/util/process'
import { type Attempt, DAY_MS, Journal } from './journal.ts'
import { JournalLog, type LogPlace, readLog } from './journal-log.ts'

/** Of both owners in the name of a log. */
const ID_CHARS = 16
/** Journals of sessions that have ended, and runs without news of their result. */
const MAX_KEPT = 50
const MAX_RUNS = 1_000
/** Of a bridge that is gone. */
const GONE: JournaledSession = { isClosed: true, isLeft: true }

export function createJournals(options: JournalsOptions): Journals {
  return new SessionJournals(options)
}

/** A session's journal. */
interface Kept {
  journal: Journal
  session: WeakRef<JournaledSession>
  client: string
}

class SessionJournals implements Journals {
  readonly #options: JournalsOptions
  readonly #logs: Logs
  readonly #bySession = new WeakMap<JournaledSession, Journal>()
  readonly #all = new Set<Kept>()
  readonly #runs = new Map<string, Attempt>()

  constructor(options: JournalsOptions) {
    this.#options = options
    this.#logs = options.store.logs('once')
  }

  begin(session: JournaledSession, cell: CellToJournal): Attempt {
    const journal = this.#bySession.get(session) ?? this.#open(session, cell)
    const attempt = journal.begin()
    this.#runs.set(cell.run, attempt)
    if (this.#runs.size > MAX_RUNS) this.#runs.delete(this.#runs.keys().next().value!)
    return attempt
  }

  delivered(run: string, isDelivered: boolean | undefined): void {
    this.#runs.get(run)?.delivered(isDelivered)
    // A late result is lost first, and delivered with a later one.
    if (isDelivered !== false) this.#runs.delete(run)
  }

  async flush(isLast: boolean): Promise<void> {
    // What is read has journals, too, and what a session takes over is in one log only.
    await Promise.all([...this.#all].map(({ journal }) => Promise.all([journal.reading, journal.taking])))
    const flushed = [...this.#all].map((kept) => {
      const { log, isEmpty } = kept.journal
      if (!isLast && !(isEmpty && hasEnded(kept))) return log.flush()
      this.#all.delete(kept)
      return log.close(!isEmpty)
    })
    await Promise.all(flushed)
  }

  #open(session: JournaledSession, cell: CellToJournal): Journal {
    const ended = [...this.#all].filter(hasEnded)
    for (const [at, kept] of ended.entries()) {
      if (!kept.journal.isEmpty && at >= ended.length - MAX_KEPT) continue
      this.#all.delete(kept)
      void kept.journal.log.close(false)
    }
    const journal = this.#keep(session, cell)
    this.#bySession.set(session, journal)
    const reading = this.#read(journal, cell).catch((error: unknown) => {
      this.#options.log.warning('What an earlier session has written cannot be read', { error })
    })
    journal.reading = reading.then(() => {
      journal.reading = undefined
      const [before, ...others] = this.#over(journal, cell)
      if (before && others.length === 0 && hasEnded(before)) journal.before = before.journal
    })
    journal.over = () => this.#over(journal, cell).map((kept) => kept.journal)
    return journal
  }

  #keep(session: JournaledSession, { owner, client }: Pick<CellToJournal, 'owner' | 'client'>): Journal {
    const name = `${owner.slice(0, ID_CHARS)}-${client.slice(0, ID_CHARS)}-${randomUUID()}`
    const journal = new Journal(new JournalLog(this.#place(name), { by: thisProcess() }))
    this.#all.add({ journal, session: new WeakRef(session), client })
    return journal
  }

  #place(name: string): LogPlace {
    const { vault, log } = this.#options
    return { logs: this.#logs, name, vault, log }
  }

  /** Sessions of the client that have ended or whose connection broke, and that have lost a call. */
  #over(own: Journal, { client }: CellToJournal): Kept[] {
    const others = [...this.#all].filter((kept) => kept.client === client && kept.journal !== own)
    return others.filter((kept) => !kept.journal.isEmpty && (hasEnded(kept) || kept.session.deref()?.isLeft))
  }

  /** From bridges that are gone, and from bridges that had the session of this handle. */
  async #read(journal: Journal, { owner, client }: CellToJournal) {
    const [own, same] = [owner, client].map((id) => id.slice(0, ID_CHARS))
    const old = Date.now() - DAY_MS
    const isOwn = (name: string): boolean => owner !== client && name.startsWith(own!)
    const isMine = (name: string): boolean => name.split('-')[1] === same || isOwn(name)
    const find = async () => (await this.#logs.list()).filter(({ name, changedAt }) => changedAt < old || isMine(name))
    if ((await find()).length === 0) return
    await this.#options.store.exclusively('once', async () => {
      for (const { name, changedAt } of await find()) {
        if ([...this.#all].some((kept) => kept.journal.log.name === name)) continue
        const { head, entries, handedOverAt, isFull } = await readLog(this.#place(name))
        const isGone = changedAt < old || stillRuns(head['by'] as RecordedProcess) === false
        if (!isGone && !isOwn(name)) continue
        if (isMine(name)) {
          const goesOn = isOwn(name) ? journal : this.#keep(GONE, { owner: client, client })
          goesOn.take(entries, isFull)
          goesOn.leftAt = handedOverAt
          await goesOn.log.flush()
        }
        await this.#logs.remove(name)
      }
    })
  }
}

function hasEnded({ session }: Kept): boolean {
  return session.deref()?.isClosed !== false
}
