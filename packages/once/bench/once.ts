// Rows of calls that are made once: how long the first call of a session waits for what earlier ones have left.
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CatalogTool } from '../../core/src/calls/catalog/model/catalog-tool.ts'
import { SILENT } from '../../core/src/util/log.ts'
import { fileStore } from '../../core/src/util/stores/open-stores.ts'
import { createJournals } from '../src/journals.ts'
import { asIfKilled } from '../test/support/as-if-killed.ts'
import { ms, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow } from '../../../bench/row.ts'

const SESSIONS = 40
/** Each log is read, written anew and removed. */
const LIMIT_MS = 15
const CLIENT = 'c'.repeat(64)
const send = new CatalogTool('mail', 'mail', 'send', { name: 'send' })

export default async function onceRows(): Promise<BenchRow[]> {
  const name = `first call after ${SESSIONS} sessions whose last result may be lost, for each`
  return [
    atMost(name, await waitForEach('sent'), LIMIT_MS, ms),
    // Longer than what is kept in memory.
    atMost('… with an answer of 100 kB', await waitForEach('x'.repeat(100_000)), LIMIT_MS, ms),
  ]
}

async function waitForEach(answer: string): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sb-once-'))
  const logs = (): string[] => readdirSync(path.join(folder, 'once'))
  const open = () => createJournals({ store: fileStore(folder), vault: undefined, log: SILENT })
  const call = async (journals: ReturnType<typeof open>, run: string): Promise<void> => {
    const cell = journals.begin({ isClosed: false, isLeft: false }, { run, owner: CLIENT, client: CLIENT })!
    const args = { text: run }
    const entered = await cell.enter({
      tool: send,
      args,
      isAgain: false,
      definition: () => undefined,
      reading: () => [],
    })
    void entered!.sent()
    void entered!.ended({ content: [{ type: 'text', text: answer }] })
  }
  try {
    for (let session = 0; session < SESSIONS; session += 1) {
      const bridge = open()
      await call(bridge, String(session))
      await bridge.flush(true)
    }
    const before = logs()
    asIfKilled(folder)
    const last = open()
    const each = (await timed(() => call(last, 'last'))) / SESSIONS
    await last.flush(true)
    const after = new Set(logs())
    if (before.length < SESSIONS || before.some((name) => after.has(name)))
      throw new Error('The logs were not taken over.')
    return each
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
