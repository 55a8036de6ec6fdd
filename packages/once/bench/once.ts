// Rows of calls that are made once: how long the first call of a session waits for what earlier ones have left.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CatalogTool } from '../../core/src/calls/catalog/model/catalog-tool.ts'
import { SILENT } from '../../core/src/util/log.ts'
import { fileStore } from '../../core/src/util/stores/open-stores.ts'
import { createJournals } from '../src/journals.ts'
import { ms, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow } from '../../../bench/row.ts'

const SESSIONS = 40
/** Each log is read, written anew and removed. */
const LIMIT_MS = 15
const CLIENT = 'c'.repeat(64)
const send = new CatalogTool('mail', 'mail', 'send', { name: 'send' })

export default async function onceRows(): Promise<BenchRow[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sb-once-'))
  try {
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
      void entered!.ended({ content: [{ type: 'text', text: 'sent' }] })
    }
    for (let session = 0; session < SESSIONS; session += 1) {
      const bridge = open()
      await call(bridge, String(session))
      await bridge.flush(true)
    }
    // Their processes are gone.
    for (const name of readdirSync(path.join(folder, 'once'))) {
      const file = path.join(folder, 'once', name)
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`"pid":${process.pid}`, '"pid":4194305'))
    }
    const last = open()
    const each = (await timed(() => call(last, 'last'))) / SESSIONS
    await last.flush(true)
    return [atMost(`first call after ${SESSIONS} sessions whose last result may be lost, for each`, each, LIMIT_MS, ms)]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
