// Credentials for remote servers that want OAuth, in a file only its owner can read: per server, by the authorization server that issued them.
// Where the system has a keychain, the file is sealed with a key from there.
// Several bridges and a login may use the file at once: every change is made under a lock, on what the file holds at that moment.
import { createHash } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { BridgeError } from '../../errors.ts'
import type { Vault } from './vault.ts'

/** What one authorization server gave us for one server. */
export interface Grant {
  client?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens
  /** The port of the redirect address that the client is registered with. */
  port?: number
}

export interface ServerGrants {
  /** The issuer whose tokens were saved last. */
  latest?: string
  byIssuer: Record<string, Grant>
  /** What the server refused to do without: the next login asks for it. */
  missingScope?: string
}

export interface TokenStore {
  /** Empty when there is nothing. @throws BridgeError CONFIG_INVALID for a damaged file */
  read(serverUrl: string): Promise<ServerGrants>
  /** Changes what is stored for one server. @throws BridgeError CONFIG_INVALID for a damaged file, which is left as it is */
  update(serverUrl: string, change: (grants: ServerGrants) => void): Promise<void>
  /** Runs work that no other process that uses this file does at the same time for the same server. */
  exclusively<T>(serverUrl: string, work: () => Promise<T>): Promise<T>
}

/** By server. What is sealed is the JSON of a ServerGrants. */
type Contents = Record<string, ServerGrants | { sealed: string }>

/** How often a taken lock is tried again, and when its owner is taken for dead. */
const RETRY_MS = 25
const STALE_MS = 60_000

/** @param vault missing means that the file holds what it holds in plain text */
export function createTokenStore(file: string, vault?: Vault): TokenStore {
  return {
    read: async (serverUrl) => grantsOf(await load(file), serverUrl, vault),
    update: (serverUrl, change) =>
      withLock(`${file}.lock`, async () => {
        const contents = await load(file)
        const grants = await grantsOf(contents, serverUrl, vault)
        change(grants)
        const key = keyOf(serverUrl)
        const sealed = await vault?.seal(JSON.stringify(grants), key)
        contents[key] = sealed === undefined ? grants : { sealed }
        await save(file, contents)
      }),
    exclusively: async (serverUrl, work) => {
      await mkdir(dirname(file), { recursive: true })
      return withLock(`${file}.${keyOf(serverUrl).slice(0, 16)}.lock`, work)
    },
  }
}

function keyOf(serverUrl: string): string {
  return createHash('sha256').update(serverUrl).digest('hex')
}

/** What cannot be opened here is as good as none: the user can sign in again. */
async function grantsOf(contents: Contents, serverUrl: string, vault: Vault | undefined): Promise<ServerGrants> {
  const key = keyOf(serverUrl)
  const entry = Object.hasOwn(contents, key) ? contents[key] : undefined
  if (entry && !('sealed' in entry)) return entry
  const text = entry && (await vault?.open(entry.sealed, key))
  return text === undefined ? { byIssuer: Object.create(null) } : (JSON.parse(text) as ServerGrants)
}

async function load(file: string): Promise<Contents> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new BridgeError('CONFIG_INVALID', `The file of login tokens cannot be read: ${file}`, { cause: error })
  }
  try {
    return JSON.parse(text) as Contents
  } catch {
    const hint = `Delete ${file}, and log in again.`
    throw new BridgeError('CONFIG_INVALID', `The file of login tokens is damaged: ${file}`, { hint })
  }
}

async function save(file: string, contents: Contents): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`
  await writeFile(temporary, JSON.stringify(contents), { mode: 0o600 })
  // The mode above counts for a new file only, and one may be left over.
  await chmod(temporary, 0o600)
  await rename(temporary, file)
}

async function withLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
  while (!(await take(lock))) {
    const age = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    if (age > STALE_MS) await rm(lock, { force: true })
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
