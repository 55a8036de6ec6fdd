// Recognises addresses of mail, without what stands around them. Linear. Pure.
import type { Match, Recogniser } from './by-patterns.ts'

const MAX_LOCAL_CHARS = 64
const LETTER = /[\p{L}\p{M}\p{N}_]/u
const DOMAIN = /[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}(?:\.[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}){1,8}/uy
const SIGNS = new Set(".!#$%&'*+/=?^`{|}~-")

/** Before the path of a URL, the last @ ends the password: this may have others, and they begin no address. */
// oxlint-disable-next-line no-control-regex
export const URL_PASSWORD = /:\/\/[^\s\0-\x1F:/"<>]{0,64}:([^\s\0-\x1F/"<>]{3,200})(?=@)/g

/**
 * Searches outwards from every @. A pattern that starts at the name would scan a long word once
 * for each of its letters.
 */
export const email: Recogniser = {
  label: 'EMAIL',
  find(text) {
    const matches: Match[] = []
    const urls = text.includes('://') ? text.matchAll(URL_PASSWORD) : []
    const passwords = Array.from(urls, ({ 0: url, 1: password, index }) => [index + url.length, password!.length])
    let from = 0
    let url = 0
    for (const { index: at } of text.matchAll(/@/g)) {
      if (at < from) continue
      while (url < passwords.length && passwords[url]![0]! < at) url += 1
      const [end, length] = passwords[url] ?? []
      if (end !== undefined && at >= end - length!) continue
      const after = at + 1
      let start = at
      while (start > from && at - start < MAX_LOCAL_CHARS && isLocalPart(text, start - 1)) start -= 1
      // Quotes and punctuation around an address are not part of it.
      while (start < at && SIGNS.has(text[start]!)) start += 1
      start = localPartFrom(text, start, at)
      if (start === at) start = quotedFrom(text, at, from)
      if (start === at) continue
      DOMAIN.lastIndex = after
      const domain = DOMAIN.exec(text)?.[0]
      if (domain === undefined) continue
      from = after + domain.length
      // As Python shows bytes.
      if (text[from] === "'") start += /^[bru]{1,2}'/i.exec(text.slice(start, start + 3))?.[0].length ?? 0
      matches.push({ start, end: from, label: 'EMAIL' })
    }
    return matches
  },
}

/** What stands before an address, but not in one: paths, cells of tables, and quotes but O'Neil's. */
const BEFORE_LOCAL = /^.*(?:[`|/?{}]|(?<![\p{L}\p{M}\p{N}'])'+)/isu
/** Senders of mailing lists and relays, which have the address of a reader inside: `bounces+ann=a.example@list.org`. */
const RETURN_NAME = /^(?:srs[01]|(?:ms)?prvs\d?|.*\+.+)$/i
/** The same with hyphens; then, what follows is the domain of the reader. */
const RETURN_WORDS = /-(?!(?:e?mail|user(?:name)?|login|account|sender|recipient|contact|address|from|to|b?cc)$)[^-]+$/i
const DOMAIN_ONLY = /^[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+$/u

/**
 * Returns where a local part begins: not with a path, a cell of a table or a name such as `to=` before it. Many signs
 * may stand in an address (RFC 5322, section 3.2.3), but these only do where another address is inside.
 */
function localPartFrom(text: string, start: number, at: number): number {
  const local = text.slice(start, at)
  let own = BEFORE_LOCAL.exec(local)?.[0].length ?? 0
  for (const { index } of local.matchAll(/=/g)) {
    if (index < own) continue
    const name = local.slice(Math.max(own, local.lastIndexOf('&', index) + 1), index)
    const value = local.slice(index + 1)
    if (RETURN_NAME.test(name) || (RETURN_WORDS.test(name) && DOMAIN_ONLY.test(value))) break
    own = index + 1
  }
  while (SIGNS.has(local[own] ?? '')) own += 1
  return own < local.length ? start + own : start
}

/**
 * Returns where the quotes before an @ open, or the position of the @ if they belong to no address. Between strings of
 * JSON or of code stand signs or spaces, so a letter or digit begins and ends the name.
 */
function quotedFrom(text: string, at: number, from: number): number {
  const close = at - 1
  if (text[close] !== '"' || close < 1 || !isLetter(text[close - 1]!)) return at
  let open = close - 1
  while (open > from && close - open < MAX_LOCAL_CHARS && !/["\\\r\n]/.test(text[open]!)) open -= 1
  return text[open] === '"' && isLetter(text[open + 1]!) ? open : at
}

const isLetter = (char: string): boolean => LETTER.test(char)

function isLocalPart(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90)) return true
  return SIGNS.has(text[index]!) || (code > 127 || code === 95 ? LETTER.test(text[index]!) : false)
}
