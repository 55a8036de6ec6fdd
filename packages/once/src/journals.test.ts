// This file verifies whose journal a session goes on with: its own, or that of a session of its client that is over.
import { beforeEach, expect, it } from 'vitest'
import type { CellJournal, Journals } from '@sandbridge/core/parts'
import { CatalogTool } from '../../core/src/calls/catalog/model/catalog-tool.ts'
import { fileStore } from '../../core/src/util/stores/open-stores.ts'
import { SILENT } from '../../core/src/util/log.ts'
import { createJournals } from './journals.ts'
import { asIfKilled } from '../test/support/as-if-killed.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const CLIENT = 'c'.repeat(64)
const send = new CatalogTool('mail', 'mail', 'send', { name: 'send' })

let folder: string
let bridge: Journals
let runs = 0
beforeEach(() => {
  folder = newFolder()
  bridge = open()
  return () => bridge.flush(true)
})

const open = () => createJournals({ store: fileStore(folder), vault: undefined, log: SILENT })

/** The bridge is killed, and another one begins. */
async function kill(): Promise<void> {
  await bridge.flush(true)
  asIfKilled(folder)
  bridge = open()
}

class Window {
  readonly session = { isClosed: false, isLeft: false }
  readonly client: string
  #run = ''
  #cell!: CellJournal

  constructor(client = CLIENT) {
    this.client = client
    this.cell()
  }

  cell(): this {
    this.#run = String((runs += 1))
    this.#cell = bridge.begin(this.session, { run: this.#run, owner: this.client, client: this.client })!
    return this
  }

  /** @returns how each call was answered: by its server, or by the journal */
  async send(...texts: string[]): Promise<string[]> {
    const told: string[] = []
    for (const text of texts) {
      const call = { tool: send, args: { text }, isAgain: false, definition: () => undefined, reading: () => [] }
      const entered = (await this.#cell.enter(call))!
      told.push(entered.answer ? `again ${text}` : `sent ${text}`)
      if (entered.answer) {
        expect(JSON.stringify(entered.answer)).toContain(`did ${text}`)
        continue
      }
      void entered.sent()
      void entered.ended({ content: [{ type: 'text', text: `did ${text}` }] })
    }
    return told
  }

  /** Its cell goes on, and its client does not wait for it. */
  giveUp(): this {
    this.#cell.lost()
    bridge.delivered(this.#run, false)
    return this
  }

  /** @returns what the result says of calls */
  end(): string | undefined {
    const note = this.#cell.ended(true)
    bridge.delivered(this.#run, true)
    return note
  }
}

it('a session makes every call while another one of its client is there, whose cell was stopped or comes late', async () => {
  const first = new Window()
  await first.send('one', 'two')
  first.giveUp()
  const second = new Window()
  expect(await second.send('one')).toEqual(['sent one'])
  expect(second.end()).toBe(undefined)
  // The cell goes on, and the journal is still that of its session.
  expect(await first.send('three')).toEqual(['sent three'])
  expect(await first.cell().send('one', 'two', 'three')).toEqual(['again one', 'again two', 'again three'])
})

it('a session goes on with a session of its client that has ended, and with none of another client', async () => {
  const first = new Window()
  await first.send('one', 'two', 'three')
  first.giveUp().session.isClosed = true
  expect(await new Window('d'.repeat(64)).send('one')).toEqual(['sent one'])
  const second = new Window()
  expect(await second.send('one', 'one', 'two')).toEqual(['again one', 'sent one', 'again two'])
  expect(second.end()).toMatch(/again: mail\.send \(2\)\. .*did not repeat: mail\.send \(1\)\./)
  // It has its result: nothing is left.
  expect(await second.cell().send('three')).toEqual(['sent three'])
  expect(await new Window().send('three')).toEqual(['sent three'])
})

it('a session whose connection broke is gone on with where one of its calls is repeated, and left alone otherwise', async () => {
  const first = new Window()
  await first.send('one', 'two')
  first.session.isLeft = true
  const other = new Window()
  expect(await other.send('other')).toEqual(['sent other'])
  expect(other.end()).toBe(undefined)
  expect(await first.send('three')).toEqual(['sent three'])
  expect(await new Window().send('one', 'two')).toEqual(['again one', 'again two'])
  await expect(first.send('four')).rejects.toMatchObject({ code: 'CANCELLED' })
  first.giveUp()
  // Its client comes back after all.
  first.session.isLeft = false
  expect(await first.cell().send('three', 'four')).toEqual(['again three', 'sent four'])
})

it.each(['first', 'last'])(
  'two sessions of a client go on where they were after their bridge was killed, the %s one before',
  async (which) => {
    await new Window().send('one', 'same', 'x'.repeat(100_000))
    await new Window().send('two', 'same')
    await kill()
    const order =
      which === 'first'
        ? [
            ['one', 'same'],
            ['two', 'same'],
          ]
        : [
            ['two', 'same'],
            ['one', 'same'],
          ]
    const windows = [new Window(), new Window()]
    for (const [at, texts] of order.entries()) {
      expect(await windows[at]!.send(...texts)).toEqual(texts.map((text) => `again ${text}`))
      windows[at]!.end()
    }
    expect(await new Window().send('one', 'two', 'same')).toEqual(['sent one', 'sent two', 'sent same'])
  },
)

it('what a killed bridge has left is there after the next one was killed, too', async () => {
  const first = new Window()
  await first.send('one', 'x'.repeat(100_000))
  await kill()
  expect(await new Window().send('other')).toEqual(['sent other'])
  await kill()
  expect(await new Window().send('x'.repeat(100_000), 'one')).toEqual([expect.stringMatching(/^again x/), 'again one'])
})

it('an answer that is too long for memory is taken over', async () => {
  const first = new Window()
  const long = 'x'.repeat(100_000)
  await first.send(long)
  first.giveUp().session.isClosed = true
  await bridge.flush(false)
  expect(await new Window().send(long)).toEqual([expect.stringMatching(/^again x/)])
})
