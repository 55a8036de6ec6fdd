// What is kept of sign-ins, as far as the core knows it: packages/sign-in reads and seals it.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { HeldSecrets } from '../../config/secrets/redact.ts'
import { processContext } from '../../config/settings/client-context.ts'
import type { Settings } from '../../config/settings/settings.ts'
import type { Store } from '../../util/stores/store.ts'
import type { Log } from '../../util/log.ts'
import { Part } from '../../util/part.ts'

/** A sign-in is for one entry: another with the same address may be of another account. */
export interface SignInEntry {
  name: string
  url: string
}

/** What one authorization server issued for one entry. */
export interface Grant {
  client?: {
    client_id: string
    client_secret?: string
    /** In seconds since 1970. */
    client_secret_expires_at?: number
    token_endpoint_auth_method?: string
    redirect_uris?: string[]
  }
  tokens?: {
    access_token: string
    refresh_token?: string
    scope?: string
    /** In milliseconds since 1970, where it is known. */
    expires_at?: number
    /** When they should be renewed. */
    due_at?: number
  }
  /** The port of the redirect address that the client is registered with. */
  port?: number
  /** Where tokens are refreshed and revoked. */
  endpoint?: { url: string; authMethods?: string[]; resource?: string; revocationUrl?: string }
  /** For people: who has signed in, where that is known, and when, in milliseconds since 1970. */
  account?: string
  signedInAt?: number
  /** Why the tokens are of no more use: only another sign-in helps. */
  ended?: string
  /** A sign-in with this client was not answered: it may be unknown there by now, so the next one registers anew. */
  unanswered?: true
}

/** The sign-ins of one entry, by authorization server. */
export interface ServerGrants {
  /** Whose they are; missing before the first change. */
  entry?: SignInEntry
  /** The issuer of the tokens that were saved last. */
  latest?: string
  byIssuer: Record<string, Grant>
  /** The scope that a refused request needs: the next login requests it. */
  missingScope?: string
  /** A request was refused without a sign-in, and where the refusal said that its metadata is. */
  refused?: { resourceMetadata?: string }
  /** There is a sign-in that cannot be opened: only another key does. Never stored. */
  isLocked?: true
}

/** The grant whose tokens were saved last. */
export function latestGrant({ latest, byIssuer }: ServerGrants): Grant | undefined {
  return latest !== undefined && Object.hasOwn(byIssuer, latest) ? byIssuer[latest] : undefined
}

/** A sign-in that is kept, and how to forget it. */
export interface KeptSignIn {
  grants: ServerGrants
  key: string
}

export interface TokenStore {
  /** Every secret that it holds or has held in this process. */
  readonly secrets: HeldSecrets
  /** Empty when nothing is stored, or nothing that can be read. */
  read(entry: SignInEntry): Promise<ServerGrants>
  /** Changes the credentials of one entry. @throws BridgeError CONFIG_INVALID where they cannot be written */
  update(entry: SignInEntry, change: (grants: ServerGrants) => void): Promise<void>
  /** All that can be read, also of entries that are gone. */
  all(): Promise<KeptSignIn[]>
  /** @throws as `update` */
  forget(keys: readonly string[]): Promise<void>
  /** Why what is kept cannot be read; undefined where it can. A change sets it aside. */
  problem(): Promise<string | undefined>
  /** Runs work that no other process with this store may do at the same time for the same entry. */
  exclusively<T>(entry: SignInEntry, work: () => Promise<T>): Promise<T>
}

export interface Vault {
  /** Undefined without the keychain. @param place where the text will be stored: it can be opened only there */
  seal(text: string, place: string): Promise<string | undefined>
  /** Undefined when the keychain cannot be used or has another key now. */
  open(sealed: string, place: string): Promise<string | undefined>
}

interface SignInsPart {
  createTokenStore: (store: Store, vault: Vault | undefined, log: Log, secrets: HeldSecrets) => TokenStore
  openVault: (settings: KeySettings, log: Log) => Vault
}

type KeySettings = Pick<Settings, 'signInKey' | 'storage'>

/** Without it, there are no sign-ins. */
export const signIns = new Part<SignInsPart>('the store of sign-ins')
const ASKER = 'A sign-in to a server'

/** Its code is loaded at its first use. @param vault missing: the file holds plain text */
export function tokenStoreIn(store: Store, vault: Vault | undefined, log: Log): TokenStore {
  const secrets = new HeldSecrets()
  let loading: Promise<TokenStore> | undefined
  const load = () =>
    (loading ??= signIns.for(ASKER).then(({ createTokenStore }) => createTokenStore(store, vault, log, secrets)))
  return {
    secrets,
    read: async (entry) => (await load()).read(entry),
    update: async (entry, change) => (await load()).update(entry, change),
    all: async () => (signIns.isHere ? (await load()).all() : []),
    forget: async (keys) => (await load()).forget(keys),
    problem: async () => (signIns.isHere ? (await load()).problem() : undefined),
    exclusively: async (entry, work) => (await load()).exclusively(entry, work),
  }
}

/** Undefined (no encryption) for files of this machine without a key, and without a keychain. */
export function signInVault(settings: KeySettings, log: Log): Vault | undefined {
  const { signInKey: key, storage } = settings
  const hasNone = key === 'none' || (key === 'keychain' && !mayHaveKeychain(process.platform, processContext().env))
  if (storage === undefined && hasNone) return undefined
  let loading: Promise<Vault> | undefined
  const load = () => (loading ??= signIns.for(ASKER).then(({ openVault }) => openVault(settings, log)))
  return {
    seal: async (text, place) => (await load()).seal(text, place),
    open: async (sealed, place) => (await load()).open(sealed, place),
  }
}

/** Not on Windows, and not on Linux without a session bus. */
export function mayHaveKeychain(platform: NodeJS.Platform, env: Record<string, string | undefined>): boolean {
  const { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: folder } = env
  if (platform !== 'linux') return platform === 'darwin'
  return Boolean(address) || (folder !== undefined && existsSync(path.join(folder, 'bus')))
}
