// @module-tag whole: it loses two hundred programs in several ways each
// This file verifies that no interleaving of losses makes a write twice, or none: journals with their real logs, and a
// server that counts.
import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CatalogTool } from '../../core/src/calls/catalog/model/catalog-tool.ts'
import type { CellJournal, JournaledSession } from '../../core/src/calls/once-part.ts'
import { fileStore } from '../../core/src/util/stores/open-stores.ts'
import { SILENT } from '../../core/src/util/log.ts'
import { createJournals } from '../src/journals.ts'
import { asIfKilled } from './support/as-if-killed.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const OWNER = 'f'.repeat(64)
const LOST = new Error('lost')
const send = new CatalogTool('mail', 'mail', 'send', { name: 'send' })

/** Where the connection breaks: before a call is sent, on its way, before its answer, after it, or after the result. */
const POINTS = ['before', 'unsent', 'sent', 'answered', 'made'] as const
/** What is lost: the result, the session, or the whole bridge. */
const KINDS = ['result', 'session', 'bridge'] as const

const fault = fc.record({
  call: fc.nat(6),
  point: fc.constantFrom(...POINTS),
  kind: fc.constantFrom(...KINDS),
})

/** A bridge, its server, and a model that looks before it repeats a call whose outcome is unknown. */
class World {
  readonly effects: string[] = []
  readonly folder = newFolder()
  unknownCount = 0
  #journals = this.#open()
  #session = { isClosed: false, isLeft: false }
  #run = 0
  /** Calls that the model has taken out of its code, and those that it makes knowingly. */
  readonly #skipped = new Set<number>()
  readonly #again = new Set<number>()

  #open() {
    return createJournals({ store: fileStore(this.folder), vault: undefined, log: SILENT })
  }

  close(): Promise<void> {
    return this.#journals.flush(true)
  }

  /** @returns whether the client has the result */
  async run(program: string[], broken: { call: number; point: string; kind: string } | undefined): Promise<boolean> {
    const [skipped, again] = [this.#skipped, this.#again]
    for (;;) {
      const run = String((this.#run += 1))
      const owner = { run, owner: OWNER, client: OWNER }
      const journal = this.#journals.begin(this.#session, owner)!
      let at = 0
      try {
        for (; at < program.length; at += 1)
          if (!skipped.has(at))
            await this.#call(journal, program[at]!, again.has(at), broken?.call === at ? broken.point : '')
        journal.ended(true)
        if (broken?.point === 'made') throw LOST
        this.#journals.delivered(run, true)
        return true
      } catch (error) {
        if (error !== LOST) {
          expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
          this.unknownCount += 1
          journal.ended(false)
          this.#journals.delivered(run, true)
          const text = program[at]!
          const wanted = program.slice(0, at + 1).filter((one) => one === text).length
          if (this.effects.filter((one) => one === text).length < wanted) again.add(at)
          else skipped.add(at)
          continue
        }
        await this.#lose(run, journal, broken!)
        return false
      }
    }
  }

  async #call(journal: CellJournal, text: string, isAgain: boolean, point: string): Promise<void> {
    if (point === 'before') throw LOST
    const call = { tool: send, args: { text }, isAgain, definition: () => undefined, reading: () => [] }
    const entered = (await journal.enter(call))!
    if (entered.answer) return expect(entered.answer).toEqual({ content: [{ type: 'text', text: `did ${text}` }] })
    void entered.sent()
    if (point === 'unsent') throw LOST
    this.effects.push(text)
    if (point === 'sent') throw LOST
    void entered.ended({ content: [{ type: 'text', text: `did ${text}` }] })
    if (point === 'answered') throw LOST
  }

  async #lose(run: string, journal: CellJournal, { kind, point }: { kind: string; point: string }): Promise<void> {
    if (kind === 'bridge') {
      await this.#journals.flush(true)
      asIfKilled(this.folder)
      this.#journals = this.#open()
      this.#session = { isClosed: false, isLeft: false }
      return
    }
    if (point !== 'made') journal.ended(false)
    this.#journals.delivered(run, kind === 'session' ? undefined : false)
    if (kind === 'session') {
      this.#session.isClosed = true
      this.#session = { isClosed: false, isLeft: false }
    }
  }
}

it('a server gets the writes of one clean run, whatever is lost, or the cell is told that an outcome is unknown', async () => {
  const program = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 6 })
  const holds = fc.asyncProperty(program, fc.array(fault, { maxLength: 5 }), async (texts, faults) => {
    const world = new World()
    try {
      const isEnded = await faults.reduce(
        async (before, one) => (await before) || world.run(texts, { ...one, call: one.call % texts.length }),
        Promise.resolve(false),
      )
      if (!isEnded) expect(await world.run(texts, undefined)).toBe(true)
      expect(world.effects.toSorted()).toEqual(texts.toSorted())
      // A model is not asked where every outcome is known.
      if (!faults.some(({ point }) => point === 'sent' || point === 'unsent')) expect(world.unknownCount).toBe(0)
      if (world.unknownCount > 0) return
      // What was delivered is not held: the same cell is meant.
      expect(await world.run(texts, undefined)).toBe(true)
      expect(world.effects.toSorted()).toEqual([...texts, ...texts].toSorted())
    } finally {
      await world.close()
      rmSync(world.folder, { recursive: true, force: true })
    }
  })
  // At the same time: each waits for its files.
  await Promise.all([76, 77, 78, 79].map((seed) => fc.assert(holds, { numRuns: 50, seed })))
})

it('windows of a client whose bridge was killed make the writes of clean runs, in any order and wherever they were', async () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 5 })
  const windows = fc.array(fc.record({ texts, made: fc.nat(5), turn: fc.nat(9) }), { minLength: 2, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(windows, async (all) => {
      const folder = newFolder()
      const open = () => createJournals({ store: fileStore(folder), vault: undefined, log: SILENT })
      const effects: string[] = []
      let journals = open()
      // Held, as those of clients are.
      const sessions: JournaledSession[] = []
      const run = async (program: string[], at: number) => {
        const one = { run: `${at}`, owner: OWNER, client: OWNER }
        const session = { isClosed: false, isLeft: false }
        sessions.push(session)
        const cell = journals.begin(session, one)!
        for (const text of program) {
          const call = { tool: send, args: { text }, isAgain: false, definition: () => undefined, reading: () => [] }
          const entered = (await cell.enter(call))!
          if (entered.answer) continue
          void entered.sent()
          effects.push(text)
          void entered.ended({ content: [] })
        }
      }
      try {
        await Promise.all(all.map(({ texts: program, made }, at) => run(program.slice(0, made), at)))
        await journals.flush(true)
        asIfKilled(folder)
        journals = open()
        const back = all.toSorted((one, other) => one.turn - other.turn)
        for (const [at, { texts: program }] of back.entries()) await run(program, all.length + at)
        expect(effects.toSorted()).toEqual(all.flatMap((one) => one.texts).toSorted())
        expect(sessions).toHaveLength(2 * all.length)
      } finally {
        await journals.flush(true)
      }
    }),
    { numRuns: 60, seed: 76 },
  )
})
