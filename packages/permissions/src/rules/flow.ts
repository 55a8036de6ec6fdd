// The preset of MCP_BRIDGE_FLOW: which calls ask because of where values came from or what the model has read. Pure.
import { quotedUnless } from '../call-text.ts'
import type { FlowFacts, FlowReason } from '@sandbridge/core/config/rules'

/** A condition that holds for calls of no other flow than this one. */
export function conditionFor({ all, seen }: FlowReason): string {
  const within = (names: readonly string[]) => `.all(s, s in ${JSON.stringify(names.toSorted())})`
  return `from(args)${within(all)} && seen${within(seen)}`
}

/** Identifies the flow that a question shows. */
export function flowKey({ from, seen }: FlowReason): string {
  return JSON.stringify([from, seen])
}

/** Why a call is risky, for the user and the model. @param withValues false for the model: no text of a server */
export function flowText({ values, seen }: FlowReason, withValues = true): string {
  const from = values.map(({ path, value, names }) => {
    const shown = withValues ? ` = ${JSON.stringify(value)}` : ''
    return `${plain(path)}${shown} comes from the result of ${names.map(plain).join(', ')}`
  })
  const read = seen.length === 0 ? [] : [`the model has read text of ${seen.map(plain).join(', ')} in this session`]
  return [...from, ...read].join('; ')
}

/** A name that a cell or a server chose cannot look like our words. */
const plain = (name: string): string => quotedUnless(/^[\w.@/[\]-]+$/, name)

/**
 * What a call passes on: the values of its arguments, and names that are in no code or documentation. Others are the
 * model's, also where a server returned such a word, as in `subject: Hello`.
 */
export function passedOn(args: Readonly<Record<string, unknown>>, facts: FlowFacts): unknown[] {
  return Object.entries(args).map(([name, value]) => (facts.isKnownWord(name) ? value : { [name]: value }))
}

/** Names of arguments that say where something goes or to whom, or who gets access. */
const DESTINATION =
  /^(for|via)$|(^|_)(to|cc|bcc)$|assignee|reviewer|subscriber|recipient|receiver|attendee|participant|invitee|member|user|people|person|contact|e_?mail|phone|address|url|uri|link|host|domain|endpoint|webhook|callback|server|path|file|folder|dir|dest|target|channel|room|chat|conversation|account|iban|wallet|payee|beneficiary|owner|org|repo|passw|secret|token|permission|role|branch|project|table|database|bucket|(^|_)ids?$|[a-z]Ids?$/i
/** Values that are addresses, in any argument. A cell chooses them, so no parts can match the same text in two ways. */
const ADDRESS =
  /^(?:(?:mailto:|tel:)\S+|[^\s@]+@[^\s@][^\s@.]*\.[^\s@]+|[a-z][a-z0-9+.-]*:\/\/\S+|(?:www\.)\S+|[A-Z]{2}\d{2}(?:\s?[A-Z0-9]){11,30}|\+\d[\d ()-]{6,})$/i
/** As in `sendTo`. */
const CAMEL_TO = /[a-z](To|Cc|Bcc)$/
/** Says when, and names nothing: `2026-11-26T10:00:00Z`. */
const TIMESTAMP = /^\d{4}-\d\d-\d\d[T ][\d:.,]{1,20}(?:Z|[+-]\d\d:?\d\d)?$/
const MAX_ADDRESSES_CHARS = 10_000
const MAX_SHOWN = 5
const MAX_NAME_CHARS = 80
const MAX_NAME_WORDS = 8
const MAX_LEAVES = 10_000

/** Methods that change nothing and send their server whatever they name. */
const CARRYING = new Set(['read_resource', 'get_prompt'])

/** @returns undefined when the flow of the call is not risky */
export function flowReason(
  { server: receiver, tool, args }: { server: string; tool: string; args: Readonly<Record<string, unknown>> },
  isReadOnly: boolean,
  facts: FlowFacts,
): FlowReason | undefined {
  const carries = isReadOnly && CARRYING.has(tool)
  if (isReadOnly && !carries) return undefined
  let isKnownThere = carries
  const values: { path: string; value: string; names: readonly string[] }[] = []
  const from = new Set<string>()
  for (const { path, value, isName } of targetsOf(args, carries)) {
    const { servers, names, toldBy, isModels, isUnknown } = facts.originOf(value, true)
    // A server learns nothing from what it has said itself, such as the address of a resource that it lists.
    const isOwn = carries && !isUnknown && !isModels && toldBy.includes(receiver)
    isKnownThere &&= isOwn
    if (isOwn || (isName && isModels)) continue
    const risky = servers.filter((server) => !facts.isTrusted(server) && !(carries && server === receiver))
    if (risky.length === 0) continue
    for (const server of risky) from.add(server)
    if (values.length < MAX_SHOWN) values.push({ path, value: String(value), names })
  }
  if (from.size === 0 && (facts.seen.length === 0 || isKnownThere)) return undefined
  return {
    values,
    from: [...from].toSorted(),
    all: facts.originOf(passedOn(args, facts)).servers,
    seen: facts.seen.toSorted(),
  }
}

interface Target {
  path: string
  value: unknown
  /** It may only name something, such as a hotel: it counts if no part of it is the model's. */
  isName: boolean
}

/** The values that say where or to whom a call goes, or what it is about. @param isNamed all do */
export function targetsOf(args: Readonly<Record<string, unknown>>, isNamed = false): Target[] {
  const found: Target[] = []
  const pending: { path: string; value: unknown; isNamed: boolean }[] = [{ path: '', value: args, isNamed }]
  let left = MAX_LEAVES
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, value, isNamed: isOfNamed } = next
    if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value)
      for (const [key, inner] of Object.entries(value)) {
        // Too many for a question that a user would read: they count as destinations.
        const named = isOfNamed || (!isList && (DESTINATION.test(key) || CAMEL_TO.test(key))) || left <= 0
        pending.push({ path: isList ? `${path}[${key}]` : path ? `${path}.${key}` : key, value: inner, isNamed: named })
        if (!isList && ADDRESS.test(key.trim())) found.push({ path: `${path}.${key}`, value: key, isName: false })
      }
      continue
    }
    left -= 1
    if (isOfNamed || (typeof value === 'string' && isAddress(value))) found.push({ path, value, isName: false })
    else if (typeof value === 'string' && looksLikeName(value)) found.push({ path, value, isName: true })
  }
  return found
}

/** A short text. A single plain word may be a state or a kind. */
function looksLikeName(text: string): boolean {
  if (text.length > MAX_NAME_CHARS || !/\p{L}/u.test(text) || /^[a-z_]+$/.test(text) || TIMESTAMP.test(text))
    return false
  return text.split(/\s+/).length <= MAX_NAME_WORDS
}

/** Also for a text with several addresses, and with names: `Ann <ann@acme.example>, bob@acme.example`. */
function isAddress(text: string): boolean {
  if (ADDRESS.test(text.trim())) return true
  if (text.length > MAX_ADDRESSES_CHARS || !text.includes('@')) return false
  return text.split(/[,;]/).every((one) => ADDRESS.test(one.replace(/^[^<>]*<([^<>]*)>\s*$/, '$1').trim()))
}
