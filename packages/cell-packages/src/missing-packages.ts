// Installs the packages that can be had, and says of each other one why not: one bad name must not stop every cell.
// Remembers failures for a while, so that not every start waits for the same installer to fail.
import { hash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from '@sandbridge/core/errors.ts'
import { makePrivateFolder, readOrdinary, replaceFile } from '@sandbridge/core/util/files'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { oneLine } from '@sandbridge/core/util/text'
import type { MissingPackage } from '@sandbridge/core/isolation'
import { packageName } from '@sandbridge/core/parts'

export interface Available<T> {
  /** Undefined if no package can be had. */
  result: T | undefined
  missing: MissingPackage[]
}

/** Why packages cannot be installed. */
export class InstallError extends Error {
  /** What the installer printed; names the package that is to blame. */
  readonly output: string
  /** The packages to blame, where that is known. */
  readonly blamed: readonly string[] | undefined

  constructor(reason: string, output: string, blamed?: readonly string[]) {
    super(reason)
    this.output = output
    this.blamed = blamed
  }
}

const REMEMBERED_MS = 10 * 60_000
const PREFIX = 'missing-'
const MAX_REASON_CHARS = 300

/**
 * Calls `attempt` with all packages, then without those that it fails for. Never rejects: the reason of a failure is
 * why a package is missing.
 * @param words the packages, each wheel by itself
 * @param memory the folder of remembered failures; missing: they are not remembered
 * @param kind what the failures depend on besides the words, such as the image
 */
export async function installAvailable<T>(
  words: readonly string[],
  { memory, kind }: { memory: string | undefined; kind: string },
  attempt: (words: readonly string[]) => Promise<T>,
): Promise<Available<T>> {
  const file =
    memory && path.join(memory, `${PREFIX}${hash('sha256', JSON.stringify([kind, words])).slice(0, 24)}.json`)
  const missing = file ? await readMissing(file) : []
  const known = missing.length
  let left = words.filter((word) => !missing.some((one) => one.word === word))
  let result: T | undefined
  while (left.length > 0) {
    try {
      result = await attempt(left)
      break
    } catch (error) {
      const blamed = blame(left, error)
      const gone = blamed.length > 0 ? blamed : left
      missing.push(...gone.map((word) => ({ word, name: packageName(word), reason: reasonOf(error, word) })))
      left = left.filter((word) => !gone.includes(word))
    }
  }
  if (file && missing.length > known) await remember(file, missing)
  return { result, missing }
}

/** Lets the next start ask the installer again. */
export async function forgetMissing(memory: string): Promise<void> {
  for (const name of await readdir(memory).catch(() => [])) {
    if (name.startsWith(PREFIX)) await rm(path.join(memory, name), { force: true }).catch(() => {})
  }
}

/** Returns the packages that an error is the fault of. Empty if it names none, such as without a network. */
export function blame(words: readonly string[], error: unknown): string[] {
  const { output, blamed } = error instanceof InstallError ? error : { output: messageOf(error), blamed: undefined }
  if (blamed) return words.filter((word) => blamed.includes(word))
  if (isNetworkFailure(output)) return []
  const errors = output.split('\n').filter((line) => !(error instanceof InstallError) || /\bERROR: /i.test(line))
  const text = errors.join('\n').toLowerCase()
  const unknown = words.filter((word) => unknownLine(errors, word) !== undefined)
  // Of two packages that contradict each other, the one that was named later goes.
  return unknown.length > 1 ? unknown : words.filter((word) => namePattern(word).test(text)).slice(-1)
}

const unknownLine = (lines: readonly string[], word: string): string | undefined =>
  lines.find((line) => /No matching distribution found for /.test(line) && namePattern(word).test(line.toLowerCase()))

/** What an installer says of one package, else of all. */
function reasonOf(error: unknown, word: string): string {
  const output = error instanceof InstallError && !isNetworkFailure(error.output) ? error.output : ''
  const said = unknownLine(output.split('\n'), word)?.replace(/^.*(?=No matching)/, '') ?? messageOf(error)
  return oneLine(said, MAX_REASON_CHARS).replace(/\.$/, '')
}

/** True if pip retried because an index did not answer. */
export function isNetworkFailure(output: string): boolean {
  return /Retrying \(Retry\(|NewConnectionError|ConnectTimeoutError|Max retries exceeded/.test(output)
}

/** Packages for a line of progress: names, and files of wheels without their folders. */
export function wordsText(words: readonly string[]): string {
  return words.map((word) => (word.endsWith('.whl') ? path.basename(word) : word)).join(', ')
}

function namePattern(word: string): RegExp {
  const name = word.endsWith('.whl') ? path.basename(word) : packageName(word)
  const loose = name
    .toLowerCase()
    .split(/[-_.]+/)
    .map((part) => part.replaceAll(/\W/g, String.raw`\$&`))
    .join('[-_.]+')
  return new RegExp(`(?<![\\w.-])${loose}(?![\\w-])`)
}

async function readMissing(file: string): Promise<MissingPackage[]> {
  const kept = parseJson(await readOrdinary(file).then(String, () => ''))
  if (!isRecord(kept) || typeof kept['at'] !== 'number' || Math.abs(Date.now() - kept['at']) > REMEMBERED_MS) return []
  const missing: unknown[] = Array.isArray(kept['missing']) ? kept['missing'] : []
  return missing.filter(
    (one): one is MissingPackage =>
      isRecord(one) && ['word', 'name', 'reason'].every((field) => typeof one[field] === 'string'),
  )
}

async function remember(file: string, missing: MissingPackage[]): Promise<void> {
  try {
    makePrivateFolder(path.dirname(file))
    await replaceFile(file, JSON.stringify({ at: Date.now(), missing }))
  } catch {}
}
