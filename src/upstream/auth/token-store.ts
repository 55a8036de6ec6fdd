// Credentials for remote servers that want OAuth, in a document of the store: per server, by the authorization server that issued them.
// Where a key is set or the system has a keychain, it is sealed with that key.
// Several bridges and a login may use it at once: every change is made under a lock, on what it holds at that moment.
import { createHash } from 'node:crypto'
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { Log } from '../../log.ts'
import { isRecord, parseJson } from '../../text/json.ts'
import type { Vault } from './vault.ts'
import { JsonRecord } from '../../storage/json-record.ts'
import type { Store } from '../../storage/store.ts'

/** The document, and the file of a state folder. */
const TOKENS = 'tokens.json'

/** What one authorization server gave us for one server. */
export interface Grant {
  client?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens
  /** The port of the redirect address that the client is registered with. */
  port?: number
}

interface ServerGrants {
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
  /** Runs work that no other process that uses this store does at the same time for the same server. */
  exclusively<T>(serverUrl: string, work: () => Promise<T>): Promise<T>
}

/** By server. What is sealed is the JSON of a ServerGrants. */
type Contents = Record<string, ServerGrants | { sealed: string }>

/**
 * @param vault missing means that the file holds what it holds in plain text
 * @param log told, once, when what is stored for a server is damaged
 */
export function createTokenStore(store: Store, vault?: Vault, log?: Log): TokenStore {
  const document = store.document(TOKENS)
  const record = new JsonRecord<Contents>({
    document,
    empty: () => ({}),
    parse: (json) => (isRecord(json) ? (json as Contents) : undefined),
    damaged: { record: 'The file of login tokens', hint: `Delete ${document.place}, and log in again.` },
  })
  const warned = new Set<string>()
  /** What cannot be opened or understood here is as good as none: the user can sign in again, and other servers' sign-ins stay. */
  const grantsOf = async (contents: Contents, serverUrl: string): Promise<ServerGrants> => {
    const key = keyOf(serverUrl)
    const entry = Object.hasOwn(contents, key) ? contents[key] : undefined
    const grants = await openEntry(entry, key, vault)
    if (grants) return grants
    if (grants === null && !warned.has(key)) {
      warned.add(key)
      log?.warning('A stored sign-in is damaged: sign in to the server again', { file: document.place })
    }
    return { byIssuer: Object.create(null) as ServerGrants['byIssuer'] }
  }

  return {
    read: async (serverUrl) => grantsOf(await record.read(), serverUrl),
    async update(serverUrl, change) {
      await record.update(async (contents) => {
        const grants = await grantsOf(contents, serverUrl)
        change(grants)
        const key = keyOf(serverUrl)
        const sealed = await vault?.seal(JSON.stringify(grants), key)
        contents[key] = sealed === undefined ? grants : { sealed }
      })
    },
    exclusively: (serverUrl, work) => store.exclusively(`${TOKENS}.${keyOf(serverUrl).slice(0, 16)}`, work),
  }
}

function keyOf(serverUrl: string): string {
  return createHash('sha256').update(serverUrl).digest('hex')
}

/** Undefined when it is missing or cannot be decrypted; null when it is damaged. */
async function openEntry(
  entry: unknown,
  key: string,
  vault: Vault | undefined,
): Promise<ServerGrants | undefined | null> {
  if (entry === undefined) return undefined
  if (!isRecord(entry)) return null
  if (!('sealed' in entry)) return isGrants(entry) ? entry : null
  if (typeof entry['sealed'] !== 'string') return null
  const text = await vault?.open(entry['sealed'], key)
  if (text === undefined) return undefined
  const grants = parseJson(text)
  return isGrants(grants) ? grants : null
}

function isGrants(value: unknown): value is ServerGrants {
  if (!isRecord(value) || !isRecord(value['byIssuer'])) return false
  if (!isTextIfAny(value['latest']) || !isTextIfAny(value['missingScope'])) return false
  return Object.values(value['byIssuer']).every(isGrant)
}

/** The parts that we read ourselves; the rest is checked where it is used. */
function isGrant(value: unknown): value is Grant {
  if (!isRecord(value)) return false
  const { client, tokens, port } = value
  if (client !== undefined && !(isRecord(client) && typeof client['client_id'] === 'string')) return false
  if (tokens !== undefined && !(isRecord(tokens) && typeof tokens['access_token'] === 'string')) return false
  return port === undefined || (Number.isInteger(port) && Number(port) >= 0 && Number(port) < 65_536)
}

function isTextIfAny(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}
