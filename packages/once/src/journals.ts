// The journals of one user's sessions, and which of them a new session goes on with: that of a session of the same
// client that is over.
import { randomUUID } from 'node:crypto'
import type { CellToJournal, JournaledSession, Journals, JournalsOptions } from '@sandbridge/core/parts'
import type { Logs } from '@sandbridge/core/keep'
import { type RecordedProcess, stillRuns, thisProcess } from '@sandbridge/core/util/process'
import type { Entry } from './entry.ts'
import { type Attempt, DAY_MS, Journal } from './journal.ts'
import { JournalLog, type LogPlace, readLog } from './journal-log.ts'

/** Of both owners in the name of a log. */
const ID_CHARS = 16
/** Journals of sessions that are over, and runs without news of their result. */
const MAX_KEPT = 50
const MAX_RUNS = 1_000
/**
 * A client that ends right after it was handed a result has most likely read it, although it sent nothing more. One
 * that comes back this soon with the same call has not.
 */
const HANDED_OVER_MS = 10_000

export function createJournals(options: JournalsOptions): Journals {
  return new SessionJournals(options)
}

/** A session's journal. */
interface Kept {
  journal: Journal
  session: WeakRef<JournaledSession>
  client: string
  isRemote: boolean
  last: Attempt
}

class SessionJournals implements Journals {
  readonly #options: JournalsOptions
  readonly #logs: Logs
  readonly #bySession = new WeakMap<JournaledSession, Kept>()
  readonly #all = new Set<Kept>()
  readonly #runs = new Map<string, Attempt>()

  constructor(options: JournalsOptions) {
    this.#options = options
    this.#logs = options.store.logs('once')
  }

  begin(session: JournaledSession, cell: CellToJournal): Attempt {
    const known = this.#bySession.get(session)
    const kept = known ?? this.#open(session, cell)
    const attempt = kept.journal.begin()
    kept.last = attempt
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
    const flushed = [...this.#all].map(async (kept) => {
      await kept.journal.reading
      const { log, isEmpty } = kept.journal
      const isOpen = kept.session.deref()?.isClosed === false
      if (!isLast && (isOpen || !isEmpty)) return log.flush()
      this.#all.delete(kept)
      return log.close(!isEmpty)
    })
    await Promise.all(flushed)
  }

  #open(session: JournaledSession, { owner, client, isRemote }: CellToJournal): Kept {
    const name = `${owner.slice(0, ID_CHARS)}-${client.slice(0, ID_CHARS)}-${randomUUID()}`
    const journal = new Journal(new JournalLog(this.#place(name), { by: thisProcess() }))
    const kept: Kept = { journal, session: new WeakRef(session), client, isRemote, last: journal.begin() }
    const over = this.#takeOver(client)
    this.#bySession.set(session, kept)
    this.#all.add(kept)
    this.#begin(journal, async () => {
      await this.#takeFrom(over, journal)
      await this.#read(journal, { owner, client })
    })
    // Its client may have come back before the end of its last connection was noticed.
    journal.takeLate = () => {
      journal.takeLate = () => undefined
      const late = this.#takeOver(client)
      if (late.length > 0) this.#begin(journal, () => this.#takeFrom(late, journal))
      return journal.reading
    }
    return kept
  }

  #begin(journal: Journal, read: () => Promise<void>): void {
    const reading = read().catch((error: unknown) => {
      this.#options.log.warning('What an earlier session has written cannot be read', { error })
    })
    journal.reading = reading.then(() => void (journal.reading = undefined))
  }

  #place(name: string): LogPlace {
    const { vault, log } = this.#options
    return { logs: this.#logs, name, vault, log }
  }

  /** The journals of the client's sessions of this bridge that are over. */
  #takeOver(client: string): Journal[] {
    const over = [...this.#all].filter((kept) => isOver(kept))
    return over.flatMap((kept, at) => {
      const isSame = kept.client === client
      if (!isSame && !kept.journal.isEmpty && at >= over.length - MAX_KEPT) return []
      this.#all.delete(kept)
      const open = kept.session.deref()
      if (open) this.#bySession.delete(open)
      if (isSame) {
        kept.journal.isTaken = true
        return [kept.journal]
      }
      void kept.journal.log.close(false)
      return []
    })
  }

  async #takeFrom(over: readonly Journal[], journal: Journal): Promise<void> {
    for (const other of over) {
      // It may not have read yet what was left to it.
      await other.reading
      journal.take(stillLost(other.entries()))
      await journal.log.flush()
      await other.log.close(false)
    }
  }

  /** From bridges that are gone, and from bridges that had the session of this handle. */
  async #read(journal: Journal, { owner, client }: Pick<CellToJournal, 'owner' | 'client'>) {
    const [own, same] = [owner, client].map((id) => id.slice(0, ID_CHARS))
    const old = Date.now() - DAY_MS
    const isMine = (name: string): boolean => name.split('-')[1] === same || (owner !== client && name.startsWith(own!))
    const find = async () => (await this.#logs.list()).filter(({ name, changedAt }) => changedAt < old || isMine(name))
    if ((await find()).length === 0) return
    await this.#options.store.exclusively('once', async () => {
      for (const { name, changedAt } of await find()) {
        if ([...this.#all].some(({ journal: { log } }) => log.name === name)) continue
        const place = this.#place(name)
        const { head, entries, handedOverAt, isFull } = await readLog(place)
        const isGone = changedAt < old || stillRuns(head['by'] as RecordedProcess) === false
        if (!isGone && !(owner !== client && name.startsWith(own!))) continue
        if (isMine(name) && isRecent(handedOverAt)) journal.take(entries, isFull)
        await journal.log.flush()
        await this.#logs.remove(name)
      }
    })
  }
}

function isOver({ session, isRemote, last }: Kept): boolean {
  return session.deref()?.isClosed !== false || (isRemote && last.isDelivered === false)
}

const isRecent = (handedOverAt: number | undefined): boolean =>
  handedOverAt === undefined || Date.now() - handedOverAt < HANDED_OVER_MS

function stillLost(entries: Iterable<Entry>): Entry[] {
  const lost = [...entries].filter(({ by }) => isRecent(by?.handedOverAt))
  return lost.map((entry) => ({ ...entry, isTold: entry.isTold || entry.by?.handedOverAt !== undefined }))
}
