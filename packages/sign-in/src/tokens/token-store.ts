// Credentials for OAuth servers, in one document: per entry, by authorization server. Sealed if there is a key. Every
// change happens under a lock on the current content. What cannot be read counts as no sign-in, and is set aside.
import { hash } from 'node:crypto'
import { HeldSecrets } from '@sandbridge/core/config/secrets'
import { JsonDocument, type Store } from '@sandbridge/core/util/stores'
import type { ServerGrants, SignInEntry, TokenStore, Vault } from '@sandbridge/core/upstream/auth'
import type { Log } from '@sandbridge/core/util'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { isGrants, noGrants, noteSecrets } from './grants.ts'

/** The document's name, and the file's name in a state folder. */
const TOKENS = 'tokens.json'

/** The JSON of a ServerGrants, and those that bridges with other keys have sealed, which this one cannot open. */
interface Sealed {
  sealed: string
  others?: string[]
}

/** By entry. */
type Contents = Record<string, ServerGrants | Sealed>

/** More keys than one user's bridges have. */
const MAX_OTHERS = 3

/** @param vault missing: the file holds plain text @param log gets one warning when an entry is damaged */
export function createTokenStore(store: Store, vault?: Vault, log?: Log, secrets = new HeldSecrets()): TokenStore {
  const document = store.document(TOKENS)
  const warned = new Set<string>()
  const warn = (about: string, message: string): void => {
    if (warned.has(about)) return
    warned.add(about)
    log?.warning(message, { file: document.place })
  }
  const file = new JsonDocument<Contents>({
    document,
    empty: () => ({}),
    parse: (json) => (isRecord(json) ? (json as Contents) : undefined),
    damaged: {
      name: 'The file of login tokens',
      hint: 'Make it readable, then retry.',
      onDamaged: () => warn(TOKENS, 'The file of sign-ins is damaged: sign in again. The next login sets it aside'),
      setAside: (text) => store.document(asideName(new Date())).update(() => Promise.resolve(text)),
    },
  })
  const read = (): Promise<Contents> =>
    file.read().catch(() => {
      warn(TOKENS, 'The file of sign-ins cannot be read: servers that need one ask for another')
      return {}
    })
  /** An entry that cannot be opened counts as empty: the user signs in again, and other sign-ins are kept. */
  const open = async (contents: Contents, key: string): Promise<ServerGrants | undefined> => {
    const entry = Object.hasOwn(contents, key) ? contents[key] : undefined
    const grants = await openEntry(entry, key, vault)
    if (grants === null) warn(key, 'A stored sign-in is damaged: sign in to the server again')
    if (grants) noteSecrets(grants, secrets)
    return grants ?? undefined
  }
  const write = async (contents: Contents, key: string, grants: ServerGrants): Promise<void> => {
    const sealed = await vault?.seal(JSON.stringify(grants), key)
    const others = await lockedTexts(contents[key], key, vault)
    contents[key] = { ...(sealed === undefined ? grants : { sealed }), ...(others.length > 0 && { others }) }
    noteSecrets(grants, secrets)
  }
  const update = async (entry: SignInEntry, change: (grants: ServerGrants) => void): Promise<void> => {
    const key = keyOf(entry)
    await file.update(async (contents) => {
      const grants = (await open(contents, key)) ?? noGrants()
      grants.entry = { name: entry.name, url: entry.url }
      change(grants)
      await write(contents, key, grants)
    })
  }

  return {
    secrets,
    update,
    async read(entry) {
      const contents = await read()
      const kept = await open(contents, keyOf(entry))
      if (kept) return kept
      const locked = await lockedTexts(contents[keyOf(entry)], keyOf(entry), vault)
      return locked.length > 0 ? { ...noGrants(), isLocked: true } : noGrants()
    },
    async all() {
      const contents = await read()
      const opened = await Promise.all(
        Object.keys(contents).map(async (key) => ({ key, grants: await open(contents, key) })),
      )
      return opened.flatMap(({ key, grants }) => (grants ? [{ key, grants }] : []))
    },
    async forget(keys) {
      await file.update((contents) => keys.forEach((key) => delete contents[key]))
    },
    async problem() {
      await read()
      return warned.has(TOKENS) ? `${document.place} is damaged` : undefined
    },
    exclusively: (entry, work) => store.exclusively(`${TOKENS}.${keyOf(entry).slice(0, 16)}`, work),
  }
}

/** The name of what is set aside. */
function asideName(now: Date): string {
  return `tokens-damaged-${now.toISOString().replaceAll(/[:.]/g, '-')}.json`
}

function keyOf({ name, url }: SignInEntry): string {
  return hash('sha256', JSON.stringify([name, url]))
}

/** The sealed texts of an entry, the newest first. */
function sealedTexts(entry: unknown): string[] {
  if (!isRecord(entry)) return []
  const { sealed, others } = entry
  return [sealed, ...(Array.isArray(others) ? others : [])].filter((text) => typeof text === 'string')
}

/** Those that only other keys open. */
async function lockedTexts(entry: unknown, key: string, vault: Vault | undefined): Promise<string[]> {
  const texts = sealedTexts(entry)
  const opened = await Promise.all(texts.map(async (text) => vault?.open(text, key)))
  return texts.filter((_, i) => opened[i] === undefined).slice(0, MAX_OTHERS)
}

/** Undefined when the entry is missing or cannot be decrypted; null when it is damaged. */
async function openEntry(
  entry: unknown,
  key: string,
  vault: Vault | undefined,
): Promise<ServerGrants | undefined | null> {
  if (entry === undefined) return undefined
  if (isGrants(entry)) {
    const { others: _locked, ...grants }: ServerGrants & Partial<Sealed> = entry
    return grants
  }
  const texts = sealedTexts(entry)
  if (texts.length === 0) return null
  for (const text of texts) {
    const opened = await vault?.open(text, key)
    const grants = opened === undefined ? undefined : parseJson(opened)
    if (opened !== undefined) return isGrants(grants) ? grants : null
  }
  return undefined
}
