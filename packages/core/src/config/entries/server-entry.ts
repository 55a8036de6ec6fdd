// Checks one server's entry and converts it to a definition. Reasons name fields and never quote values. Pure.
import type * as z from 'zod'
import { parseLists, type ShapeProblem } from '../rules/permissions-schema.ts'
import { isRecord, withoutUndefined } from '../../util/json/json.ts'
import { nearestName } from '../../util/text/did-you-mean.ts'
import { isGiven, isKnownField, meantRestriction, saysOff, switchesOn } from './client-fields.ts'
import { entrySchemas, type ServerEntry, TRANSPORTS } from './entry-schema.ts'
import { inputReferences } from './placeholders.ts'
import type { RemoteServer, ServerDefinition, ServerInput, StdioServer } from './server-definition.ts'

export type ServerBody = Omit<ServerDefinition, 'name' | 'source' | 'trusted'>

const MAX_NAME_CHARS = 128

export const BAD_NAME = 'has a name that is blank, longer than 128 characters, or has control characters'

export function isServerName(name: string): boolean {
  return name.trim() !== '' && name === shownName(name)
}

/** Shortens a name for one line of a list. */
export function shownName(name: string): string {
  return name.slice(0, MAX_NAME_CHARS).replaceAll(/\p{Cc}/gu, '\uFFFD')
}

/** The message is the reason why an entry is invalid. */
class EntryInvalid extends Error {
  override readonly name = 'EntryInvalid'
}

/** Converts an entry to a definition, or returns the reason why it is invalid. */
export function toServerBody(entry: ServerEntry): { body: ServerBody } | { reason: string } {
  if (entry.unusable !== undefined) return { reason: entry.unusable }
  try {
    if (isOff(entry)) return { reason: 'is disabled in this file' }
    return { body: bodyOf(entry) }
  } catch (error) {
    if (error instanceof EntryInvalid) return { reason: error.message }
    throw error
  }
}

/** A switch with another value, such as "true" in quotes, was meant to do something. @throws EntryInvalid */
function isOff(entry: ServerEntry): boolean {
  const fields = Object.entries(entry)
  const given = fields.flatMap(([name, value]) => {
    const isOn = switchesOn(name)
    return isOn !== undefined && isGiven(value) ? [{ name, value, isOn }] : []
  })
  const odd = given.find(({ value }) => typeof value !== 'boolean')
  if (odd) throw new EntryInvalid(`has a field ${odd.name} that is neither true nor false`)
  return given.some(({ value, isOn }) => value !== isOn) || fields.some(([name, value]) => saysOff(name, value))
}

const RESTRICTING = 'permissions includeTools excludeTools sandbox sandboxEnabled disabled enabled shared'.split(' ')

/**
 * The reason to skip an entry that has a field which was meant to restrict the server, and is not known: ignored, it
 * would leave everything allowed. Other unknown fields are ignored, and so is a name such as `_disabled`, with which
 * people comment a field out.
 * @param isOwn it is in a file of the bridge, where misspelt names count as well
 */
export function whyUnrestricted(entry: ServerEntry, isOwn: boolean): { reason: string; field?: string } | undefined {
  if (isOwn && isGiven(entry.shared) && typeof entry.shared !== 'boolean')
    return { reason: 'has a field shared that is neither true nor false', field: 'shared' }
  const { common, stdio, remote } = entrySchemas()
  const known = { ...common.shape, ...stdio.shape, ...remote.shape }
  for (const [field, value] of Object.entries(entry)) {
    if (Object.hasOwn(known, field) || !/^[a-z][\w-]*$/i.test(field) || RESTRICTING.includes(field)) continue
    if (isKnownField(field)) continue
    const meant = (isOwn ? nearestName(field, RESTRICTING) : undefined) ?? meantRestriction(field, value)
    if (meant !== undefined) return { reason: `has a field ${field} that is not known: did you mean ${meant}?`, field }
  }
  return undefined
}

function bodyOf(entry: ServerEntry): ServerBody {
  const { common, stdio, remote } = entrySchemas()
  const type = transportType(entry)
  const { description, trusted, includeTools, excludeTools, ...others } = check(common, entry)
  const local = type === 'stdio' ? check(stdio, { ...entry, sandbox: sandboxOf(entry) }) : undefined
  const transport: StdioServer | RemoteServer = local
    ? { type: 'stdio', ...withoutUndefined({ ...local, sandbox: local.sandbox || undefined }) }
    : { type: type === 'sse' ? 'sse' : 'http', ...withoutUndefined(check(remote, entry)), ...oauthOf(entry.oauth) }
  const needed = inputsOf(entry.inputs, transport)
  return withoutUndefined({
    transport,
    description: description || undefined,
    tools: toolFilter(includeTools, excludeTools),
    isOwnText: trusted === true ? (true as const) : undefined,
    permissions: permissionsOf(entry.permissions),
    inputs: needed.length > 0 ? needed : undefined,
    unjailed: local?.sandbox === false ? (true as const) : undefined,
    ...others,
  })
}

/** The inputs of a list in VS Code's form that a transport refers to. Invalid ones are skipped: they say how to ask. */
function inputsOf(list: unknown, transport: StdioServer | RemoteServer): ServerInput[] {
  const ids = new Set(inputReferences(transport).map(({ name }) => name))
  const inputs = ids.size > 0 ? entrySchemas().inputs.parse(list) : undefined
  return inputs?.filter((input) => input !== undefined).filter(({ id }) => ids.has(id)) ?? []
}

/** In VS Code, `sandboxEnabled` decides whether `sandbox` applies. */
function sandboxOf({ sandbox, sandboxEnabled }: ServerEntry): unknown {
  if (!isGiven(sandboxEnabled)) return sandbox
  if (sandboxEnabled === false) return undefined
  if (sandboxEnabled !== true) throw new EntryInvalid('has a sandboxEnabled that is neither true nor false')
  return isGiven(sandbox) && sandbox !== false ? sandbox : true
}

function transportType({ type, command, url }: ServerEntry): 'stdio' | 'http' | 'sse' {
  if (isGiven(type)) {
    const known = TRANSPORTS.get(typeof type === 'string' ? type.toLowerCase() : '')
    if (known === undefined) throw new EntryInvalid('has a type other than stdio, http and sse')
    return known
  }
  if (isGiven(command) && isGiven(url)) throw new EntryInvalid('has both a command and a url, and no type')
  if (isGiven(command)) return 'stdio'
  if (isGiven(url)) return 'http'
  throw new EntryInvalid('has neither a command nor a url')
}

/** Some clients use this name for something else, such as whether signing in is allowed. Such an entry is kept. */
function oauthOf(value: unknown): Pick<RemoteServer, 'oauth' | 'signIn'> {
  if (!isRecord(value)) return {}
  const { clientCredentials, registered, unregistered } = entrySchemas()
  // A text or a list, under either name.
  const wanted = value['scope'] ?? value['scopes']
  const [scope, scopes] = Array.isArray(wanted) ? [undefined, wanted] : [wanted, undefined]
  const entry = { ...value, scope, scopes }
  if (value['grant'] === 'client_credentials') return { oauth: check(clientCredentials, entry, 'oauth') }
  const { clientId } = value
  const isRegistered = isGiven(clientId) && !(typeof clientId === 'string' && clientId.trim() === '')
  const signIn = check(isRegistered ? registered : unregistered, entry, 'oauth')
  return Object.keys(signIn).length > 0 ? { signIn } : {}
}

function toolFilter(include: string[] | undefined, exclude: string[] | undefined): ServerDefinition['tools'] {
  // Some clients write `*` for all tools.
  const included = include?.includes('*') ? undefined : include
  if (included === undefined && !exclude?.length) return undefined
  return withoutUndefined({ include: included, exclude })
}

function permissionsOf(value: unknown): ServerDefinition['permissions'] {
  if (!isGiven(value)) return undefined
  const lists = parseLists(value)
  if (!Array.isArray(lists)) return lists
  const [{ path, reason }] = lists as [ShapeProblem]
  throw new EntryInvalid(`has permissions with a mistake: ${[...path, reason].join(': ')}`)
}

/** Field names in reasons, where the client's name differs from ours. */
const LABELS: Record<string, string> = {
  includeTools: 'the list of tools to include',
  excludeTools: 'the list of tools to exclude',
  startTimeoutMs: 'start timeout',
  callTimeoutMs: 'timeout',
}

/** Names in clients' files, which readers leave in the entry. */
const CLIENTS_NAMES: Record<string, readonly string[]> = { inheritEnv: ['env_vars', 'env_keys'] }

/** @throws EntryInvalid with the first problem of a value */
function check<T>(schema: z.ZodType<T>, value: unknown, ...at: string[]): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const name = fieldName([...at, ...(issue?.path ?? [])], value)
  throw new EntryInvalid((issue?.message ?? '').replace('{field}', () => name))
}

function fieldName(path: readonly PropertyKey[], value: unknown): string {
  const keys = path.filter((key) => typeof key !== 'number').map(String)
  const own = keys.join('.')
  const written = CLIENTS_NAMES[own]?.find((name) => isRecord(value) && isGiven(value[name]))
  const name = written ?? LABELS[own] ?? own
  return keys.length < path.length ? `an item of ${name}` : name
}
