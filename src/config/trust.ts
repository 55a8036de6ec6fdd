// Which config files of projects the user has trusted: a file's path and the hash of its text, in <state dir>/.sandbridge/trust.json.
// Trust is in what the user saw. A text that has changed since, or that has moved, is not trusted.
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '../errors.ts'
import { isObject } from './config-document.ts'
import { replaceFile } from '../storage/replace-file.ts'

export interface TrustStore {
  /** Whether the user has trusted exactly this text at this path. False when the record cannot be read. */
  isTrusted(this: void, file: string, text: string): Promise<boolean>
  /** Trust a text of a file, by its hash: of the one that was shown to the user, not of what the file may hold by now. */
  trust(file: string, hash: string): Promise<void>
  /** Take trust in a file back. @returns whether there was any. */
  untrust(file: string): Promise<boolean>
  /** The paths of all trusted files. */
  list(): Promise<string[]>
}

/** Hashes by absolute path. */
type Trusted = Map<string, string>

/** @throws BridgeError CONFIG_INVALID from `trust` and `untrust` when the record is damaged or cannot be written; it is then left as it is. */
export function createTrustStore(stateDir: string): TrustStore {
  const record = trustRecord(stateDir)
  // Read once: a bridge asks for every file of a project at once.
  let known: Promise<Trusted> | undefined
  const load = (): Promise<Trusted> => (known ??= readRecord(record))

  /** Reads the record afresh, so that what another process has added stays. */
  async function change(edit: (trusted: Trusted) => void): Promise<void> {
    known = undefined
    const trusted = await load()
    edit(trusted)
    await writeRecord(record, trusted)
  }

  return {
    async isTrusted(file, text) {
      const trusted = await load().catch((): Trusted => new Map())
      return trusted.get(path.resolve(file)) === textHash(text)
    },
    trust: (file, hash) => change((trusted) => trusted.set(path.resolve(file), hash)),
    async untrust(file) {
      let had = false
      await change((trusted) => {
        had = trusted.delete(path.resolve(file))
      })
      return had
    },
    list: async () => [...(await load()).keys()],
  }
}

/** Where the record is. */
export function trustRecord(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'trust.json')
}

/** What a text is known by in the record. */
export function textHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

async function readRecord(record: string): Promise<Trusted> {
  let text: string
  try {
    text = await readFile(record, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return new Map()
    throw damaged(record, 'cannot be read', cause)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw damaged(record, 'is not valid JSON', cause)
  }
  if (!isObject(value) || value['version'] !== 1 || !isObject(value['files'])) {
    throw damaged(record, 'is not a record of this version')
  }
  return new Map(
    Object.entries(value['files']).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

async function writeRecord(record: string, trusted: Trusted): Promise<void> {
  const files = Object.fromEntries([...trusted].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  try {
    await mkdir(path.dirname(record), { recursive: true, mode: 0o700 })
    await replaceFile(record, `${JSON.stringify({ version: 1, files }, undefined, 2)}\n`)
  } catch (cause) {
    throw damaged(record, 'cannot be written', cause)
  }
}

function damaged(record: string, what: string, cause?: unknown): BridgeError {
  return new BridgeError('CONFIG_INVALID', `The record of trusted files ${what}: ${record}`, {
    hint: 'Make it writable, or delete it and trust the files again.',
    cause,
  })
}
