// A record of earlier days: written by a bridge's code, then given the timestamps of its lines.
import { renameSync, utimesSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { recordFiles } from '../../src/audit/other-files.ts'
import { RecordFile } from '../../src/audit/record-file.ts'
import { LogFolder } from '../../../core/src/util/stores/files/log-folder.ts'

type Line = { time: string; type: string } & Record<string, unknown>

/** @param fileBytes size of one file; a smaller value makes several files */
export async function writeOldRecord(folder: string, lines: readonly Line[], fileBytes = 8 << 20): Promise<void> {
  const logs = new LogFolder(folder)
  const before = new Set((await recordFiles(logs)).map(({ name }) => name))
  const record = new RecordFile({
    logs,
    about: {},
    sync: false,
    limits: { fileBytes, totalBytes: Infinity, waitingLines: 1e6 },
  })
  for (const [index, line] of lines.entries()) {
    record.add(line)
    // Each file is filled before the next one is opened.
    if (fileBytes < 8 << 20 && index % 10 === 9) await record.flush()
  }
  await record.close()
  const [first] = lines
  const stamp = first!.time.replaceAll(/[-:]|\.\d+/g, '')
  for (const { name } of (await recordFiles(logs)).filter((one) => !before.has(one.name))) {
    const file = path.join(folder, name)
    const last = (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    const told = last.findLast(({ type }) => !type.startsWith('record.')) ?? first!
    const time = new Date(told.time)
    utimesSync(file, time, time)
    renameSync(file, path.join(folder, name.replace(/^\d{8}T\d{6}Z/, stamp)))
  }
}
