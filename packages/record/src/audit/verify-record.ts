// Checks the record's hashes. Detects lines that were changed, removed or moved, and a truncated end. Cannot detect
// that someone with the user's permissions rewrote all lines from some point on, including hashes, if no later bridge
// saw the old ones.
import { hostId, isRunning } from '@sandbridge/core/util/process'
import type { Logs } from '@sandbridge/core/util/stores'
import { NO_LINE, type ReadLine, readLine } from './chain.ts'
import { recordFiles, stringsOf, type Witness } from './other-files.ts'
import { itemsOf } from '@sandbridge/core/util/json/json.ts'

type Problem = 'edited' | 'cut' | 'reordered' | 'not-a-line' | 'missing-file'
/** Findings that may have a harmless cause. */
type Remark = 'unclosed' | 'incomplete-line' | 'lines-lost' | 'pruned'

interface Finding {
  file: string
  /** From 1; missing for a finding about the whole file. */
  line?: number
  kind: Problem | Remark
  message: string
}

export interface Verdict {
  files: number
  lines: number
  /** The record was changed. */
  problems: Finding[]
  /** For example a bridge that was killed. */
  remarks: Finding[]
}

interface Writer {
  pid: number
  host: string
}

/** A process on another machine cannot be checked, and counts as ended. */
function isBridgeAlive({ pid, host }: Writer): boolean {
  return host === hostId() && isRunning(pid)
}

interface FileState {
  hashes: Set<string>
  lastHash: string
  witnessed: Witness[]
  continues: Witness | undefined
}

/** @param isAlive tells whether a bridge still runs: its closing line is then still to come */
export async function verifyRecord(logs: Logs, isAlive = isBridgeAlive): Promise<Verdict> {
  const verdict: Verdict = { files: 0, lines: 0, problems: [], remarks: [] }
  const states = new Map<string, FileState>()
  const pruned = new Set<string>()
  const names = (await recordFiles(logs)).map(({ name }) => name)
  for (const name of names) states.set(name, await verifyFile({ logs, name, names }, verdict, pruned, isAlive))
  for (const [name, { witnessed, continues }] of states) {
    for (const { file, hash } of [...witnessed, ...(continues ? [continues] : [])]) {
      const seen = states.get(file)
      if (!seen && pruned.has(file)) continue
      if (!seen) {
        verdict.problems.push({ file, kind: 'missing-file', message: `is gone. ${name} had seen it` })
      } else if (!seen.hashes.has(hash)) {
        const message = `has lost lines at its end, or was written anew: ${name} had seen a later state`
        verdict.problems.push({ file, kind: 'cut', message })
      }
    }
  }
  verdict.files = names.length
  return verdict
}

async function verifyFile(
  { logs, name, names }: { logs: Logs; name: string; names: readonly string[] },
  verdict: Verdict,
  pruned: Set<string>,
  isAlive: (writer: Writer) => boolean,
): Promise<FileState> {
  const state: FileState = { hashes: new Set(), lastHash: NO_LINE, witnessed: [], continues: undefined }
  let before: ReadLine | undefined
  let number = 0
  let isClosed = false
  let writer: Writer | undefined
  const isTorn = await logs.isTorn(name)
  for await (const text of logs.lines(name)) {
    number += 1
    const read = readLine(text)
    if (!read) {
      verdict.problems.push({ file: name, line: number, kind: 'not-a-line', message: 'is not a line of a record' })
      continue
    }
    verdict.lines += 1
    const { fields } = read
    if (!read.isIntact) verdict.problems.push({ file: name, line: number, kind: 'edited', message: 'was edited' })
    if (before) checkLink(name, number, before, read, verdict)
    else {
      state.witnessed = listOf(fields['sandbridge.witnessed'])
      state.continues = listOf([fields['sandbridge.continues']])[0]
      checkFirst(name, read, state, verdict)
      for (const gone of stringsOf(fields['sandbridge.pruned'])) pruned.add(gone)
      writer = { pid: Number(fields['process.pid']), host: String(fields['sandbridge.host']) }
    }
    if (fields['type'] === 'record.gap') {
      const lost = String(fields['sandbridge.lines'])
      const message = `${lost} lines were lost because they could not be written: a full disk, or a database out of reach`
      verdict.remarks.push({ file: name, line: number, kind: 'lines-lost', message })
    }
    isClosed = fields['type'] === 'record.closed'
    state.hashes.add(read.hash)
    state.lastHash = read.hash
    before = read
  }
  if (isTorn && number > 0) forgiveIncomplete(name, number, verdict)
  const nextExists = names.includes(nextName(name))
  if (!isClosed && !nextExists && !(writer && isAlive(writer))) {
    const elsewhere = writer !== undefined && writer.host !== hostId() ? 'runs on another machine, ' : ''
    const message = `has no closing line: its bridge ${elsewhere}was killed, or lines at its end were removed`
    verdict.remarks.push({ file: name, kind: 'unclosed', message })
  }
  return state
}

function checkFirst(file: string, read: ReadLine, { continues }: FileState, { problems }: Verdict): void {
  if (read.fields['type'] !== 'record.opened' || read.prev !== (continues?.hash ?? NO_LINE)) {
    const message = 'is not the first line that was written: lines before it are gone'
    problems.push({ file, line: 1, kind: 'cut', message })
  }
}

function checkLink(file: string, line: number, before: ReadLine, read: ReadLine, { problems }: Verdict): void {
  if (read.prev === before.hash) return
  // The edited line was already reported, and this line still holds its old hash.
  if (!before.isIntact && read.n === before.n + 1) return
  if (read.n > before.n) {
    const gone = read.n - before.n - 1
    const message =
      gone > 0 ? `follows ${gone} that are gone` : 'does not follow from the line before, which was replaced'
    problems.push({ file, line, kind: gone > 0 ? 'cut' : 'edited', message })
  } else problems.push({ file, line, kind: 'reordered', message: 'is not in the place where it was written' })
}

/** Downgrades an incomplete last line to a remark: its bridge was killed while it wrote the line. */
function forgiveIncomplete(file: string, line: number, { problems, remarks }: Verdict): void {
  const index = problems.findIndex((one) => one.file === file && one.line === line && one.kind === 'not-a-line')
  if (index < 0) return
  problems.splice(index, 1)
  remarks.push({ file, line, kind: 'incomplete-line', message: 'was being written when its bridge was killed' })
}

function nextName(name: string): string {
  return name.replace(/-(\d+)\.jsonl$/, (_, count: string) => `-${Number(count) + 1}.jsonl`)
}

function listOf(value: unknown): Witness[] {
  const list = itemsOf(value)
  return list.filter((one): one is Witness => {
    const { file, hash } = (one ?? {}) as Partial<Witness>
    return typeof file === 'string' && typeof hash === 'string'
  })
}
