// Which config files of projects the user has trusted: a file's path and the hash of its text, in <state
// dir>/.sandbridge/trust.json. The user trusts what they saw: a text that was changed or moved since is not trusted.
import { hash } from 'node:crypto'
import path from 'node:path'
import type { CoveredFiles } from './entries/server-definition.ts'
import { comparable } from '../util/files/absolute-path.ts'
import { isRecord } from '../util/json/json.ts'
import { JsonDocument } from '../util/stores/json-document.ts'

/** Hashes by absolute path. */
type Trusted = Map<string, string>

/** @throws BridgeError CONFIG_INVALID from both when the document is damaged or read-only; it is left unchanged. */
export function createTrustStore(stateDir: string) {
  const document = new JsonDocument<Trusted>({
    document: trustRecord(stateDir),
    empty: () => new Map(),
    parse: parseTrusted,
    serialize: (trusted) => ({
      version: 1,
      files: Object.fromEntries([...trusted].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    }),
    damaged: {
      name: 'The list of trusted files',
      hint: 'Make it writable, or delete it and trust the files again.',
    },
  })
  // Read once: a bridge checks all files of a project at once.
  let known: Promise<Trusted> | undefined
  const change = async (edit: (trusted: Trusted) => void): Promise<void> => {
    known = undefined
    await document.update(edit)
  }

  return {
    /** Whether the user has trusted exactly this text at this path. False when the document cannot be read. */
    isTrusted: async (file: string, text: string): Promise<boolean> => {
      known ??= document.read()
      const trusted = await known.catch((): Trusted => new Map())
      return trusted.get(keyOf(trusted, file)) === textHash(text)
    },
    /** Trusts a text of a file, by the hash of what was shown to the user, not of the file's current content. */
    trust: (file: string, digest: string) => change((trusted) => void trusted.set(keyOf(trusted, file), digest)),
    /** Stops trusting a file. @returns whether it was trusted */
    async untrust(file: string): Promise<boolean> {
      let had = false
      await change((trusted) => {
        had = trusted.delete(keyOf(trusted, file))
      })
      return had
    },
    list: async () => [...(await document.read()).keys()],
  }
}

/** As it was trusted: editors of Windows write the letter of a disk small, and terminals do not. */
function keyOf(trusted: Trusted, file: string): string {
  const place = path.resolve(file)
  if (trusted.has(place)) return place
  return [...trusted.keys()].find((one) => comparable(one) === comparable(place)) ?? place
}

export function trustRecord(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'trust.json')
}

/** The text that trust in a config file is about. */
export function trustedText(text: string, covered: readonly CoveredFiles[]): string {
  const files = Object.entries(Object.assign({}, ...covered) as CoveredFiles).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return files.length === 0 ? text : `${text}\n${JSON.stringify(files)}`
}

export function textHash(text: string): string {
  return hash('sha256', text)
}

function parseTrusted(value: unknown): Trusted | undefined {
  if (!isRecord(value) || value['version'] !== 1 || !isRecord(value['files'])) return undefined
  return new Map(
    Object.entries(value['files']).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
