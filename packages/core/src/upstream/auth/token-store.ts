// Credentials for remote servers that require OAuth, in one document of the store: per server, by the authorization
// server that issued them. Sealed with a key if one is set or the system has a keychain. Several bridges and a login
// may use it at once: every change happens under a lock, on the current content.
import { hash } from 'node:crypto'
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { Log } from '../../util/log.ts'
import { isRecord, parseJson } from '../../util/json/json.ts'
import type { Vault } from './vault.ts'
import { JsonRecord } from '../../keep/json-record.ts'
import type { Store } from '../../keep/store.ts'

/** The document's name, and the file's name in a state folder. */
const TOKENS = 'tokens.json'

/** What one authorization server issued for one server. */
export interface Grant {
  client?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens
  /** The port of the redirect address that the client is registered with. */
  port?: number
}

interface ServerGrants {
  /** The issuer of the tokens that were saved last. */
  latest?: string
  byIssuer: Record<string, Grant>
  /** The scope that a refused request needs: the next login requests it. */
  missingScope?: string
}

export interface TokenStore {
  /** Empty when nothing is stored. @throws BridgeError CONFIG_INVALID for a damaged file */
  read(serverUrl: string): Promise<ServerGrants>
  /**
   * Changes the credentials of one server.
   * @throws BridgeError CONFIG_INVALID for a damaged file, which is left unchanged
   */
  update(serverUrl: string, change: (grants: ServerGrants) => void): Promise<void>
  /** Runs work that no other process with this store may do at the same time for the same server. */
  exclusively<T>(serverUrl: string, work: () => Promise<T>): Promise<T>
}

/** By server. A sealed text is the JSON of a ServerGrants. */
type Contents = Record<string, ServerGrants | { sealed: string }>

/**
 * @param vault missing means that the file holds plain text
 * @param log receives one warning when a server's entry is damaged
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
  /**
   * An entry that cannot be opened or parsed counts as empty: the user can sign in again, and other servers' sign-ins
   * are kept.
   */
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
  return hash('sha256', serverUrl)
}

/** Undefined when the entry is missing or cannot be decrypted; null when it is damaged. */
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

/** Checks only the fields that are read here; the rest is checked where it is used. */
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
