// Writes the record: an observer that adds a line for each run, call, question, answer, denial, sign-in, change.
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import type { EventOf, Subscriber } from '@sandbridge/core/observe/events'
import type { RecordOptions } from '@sandbridge/core/parts'
import { textOf } from './record-entry.ts'
import { callFields, deliveryFields, type Fields, otherFields, runFields } from './record-fields.ts'
import type { Call, Told } from '@sandbridge/core/observe/runs'
import { RECORD_LIMITS, RecordFile, type RecordLimits } from './record-file.ts'

interface AuditOptions extends RecordOptions {
  limits?: RecordLimits
}

/**
 * Lines are written in batches: a write per call costs more than the call. A killed bridge loses this much, and any
 * undelivered events.
 */
const WRITE_AFTER_MS = 25
/** This many lines are written without further delay; there is room for ten times as many. */
const WRITE_AT_LINES = 1_000

/** Most reply text in lines that wait for a slow disk. Further lines omit their replies. */
const MAX_WAITING_REPLY_CHARS = 32 << 20

export class Audit implements Subscriber {
  readonly name = 'audit'
  readonly before?: () => Promise<void>
  readonly #options: AuditOptions
  readonly #record: RecordFile
  #flushing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isFailing = false
  #isWriting = false
  /** Characters of replies in lines not yet written. */
  #replyChars = 0

  constructor(options: AuditOptions) {
    this.#options = options
    this.#record = new RecordFile({
      logs: options.logs,
      about: { 'service.name': 'sandbridge', 'service.version': options.version },
      sync: options.required,
      limits: options.limits ?? RECORD_LIMITS,
    })
    if (options.required) this.before = () => this.#recorded()
  }

  receive(told: readonly Told[]): void {
    for (const one of told) {
      try {
        const fields = this.#lineOf(one)
        if (fields) this.#record.add(fields)
      } catch (error) {
        // A cell that finds an event without a line must not take the lines of others with it.
        this.#record.lose()
        this.#fail(error)
      }
    }
    const isFull = this.#record.waitingCount >= WRITE_AT_LINES
    const isOver = told.at(-1)?.event.type === 'run.ended'
    // Not while writing fails (a full disk): every event would retry.
    if ((isFull || isOver) && !this.#isWriting && !this.#isFailing) this.#flushing = this.#flush()
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#flushing = this.#flush()
    }, WRITE_AFTER_MS)
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#flushing
    await this.#record.close().catch((error: unknown) => this.#fail(error))
  }

  /** The line of an event; undefined for one that has none. */
  #lineOf({ event, run, call }: Told): Fields | undefined {
    const options = this.#options
    // A run's line is written after its client has the answer. A cell from a terminal has no request.
    if (event.type === 'run.ended' || (event.type === 'cell.ended' && event.parent === undefined))
      return run && runFields(run, event.at, event.durationMs, options)
    if (event.type === 'run.delivered') return run && deliveryFields(run, event.at)
    if (event.type === 'call.ended') return call && this.#answered(call, event)
    if (event.type === 'call.decided' || (event.type === 'call.started' && options.required))
      return call && callFields(event, call, options)
    return otherFields(event, options)
  }

  #answered(call: Call, ended: EventOf<'call.ended'>): Fields {
    const { replay } = this.#options
    const isFull = replay && this.#replyChars >= MAX_WAITING_REPLY_CHARS
    const fields = callFields(ended, call, isFull ? { ...this.#options, replay: false } : this.#options)
    if (replay) this.#replyChars += textOf(fields, 'result').length
    return fields
  }

  async #flush(): Promise<void> {
    this.#isWriting = true
    try {
      await this.#record.flush()
      this.#replyChars = 0
      if (this.#isFailing) this.#options.onFailing()
      this.#isFailing = false
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isWriting = false
    }
  }

  #fail(error: unknown): void {
    if (!this.#isFailing) this.#options.onFailing(error)
    this.#isFailing = true
  }

  async #recorded(): Promise<void> {
    try {
      await this.#record.flush()
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error)
      const [reason, remedy] = BridgeError.isInstance(error)
        ? [`. ${error.message}`, 'check the database of MCP_BRIDGE_STORAGE']
        : [` (${code})`, 'make room on the disk of MCP_BRIDGE_STATE_DIR, or to make that folder writable']
      throw new BridgeError('STATE_UNWRITABLE', `The call was not made: it cannot be recorded${reason}`, {
        hint: `The setting observability.auditRequired is on. Ask the user to ${remedy}.`,
        cause: error,
      })
    }
  }
}
