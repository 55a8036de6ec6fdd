// Reads the answers of authorization servers for what they mean: null and empty texts are absent, a single text stands
// for a list and a list of texts for one, a number for its text, and a form for an object. Pure.
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'

/** The fields of an answer. Read them with the functions below. */
export type Fields = Record<string, unknown>

/** A response, read. */
export interface Answer {
  url: string
  status: number
  /** Undefined for a page and the like. */
  fields: Fields | undefined
  /** What a body says that is a plain sentence. */
  sentence?: string | undefined
}

const MAX_SENTENCE_CHARS = 300

/** Undefined for JSON, a form and a page. */
export function sentenceIn(body: string): string | undefined {
  const text = body.trim()
  const isSentence = text !== '' && text.length <= MAX_SENTENCE_CHARS && !text.includes('<')
  return isSentence && fieldsIn(body) === undefined ? text.replaceAll(/^"|"$/g, '') : undefined
}

/** Undefined for a text that is neither a JSON object nor a form. */
export function fieldsIn(body: string): Fields | undefined {
  const json = parseJson(body.replace(/^\uFEFF/, ''))
  // Gateways encode twice, or send a list of the one answer.
  const inner = typeof json === 'string' ? parseJson(json) : json
  const one = Array.isArray(inner) && inner.length === 1 ? inner[0] : inner
  if (isRecord(one)) return one
  const form = body.trim().replace(/^\?/, '')
  // GitHub's and others' token endpoints answer with a form (RFC 6749 was one in its drafts).
  return /^[\w.-]+=[^\s<>]*$/.test(form) ? Object.fromEntries(new URLSearchParams(form)) : undefined
}

/** A list becomes a text with spaces, as scopes are written. */
export function textIn(fields: Fields, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (Array.isArray(value)) return value.filter(isText).join(' ') || undefined
  return isText(value) ? String(value).trim() || undefined : undefined
}

/** Also of a text with spaces. Undefined for an empty list, too: nothing is offered by none. */
export function textsIn(fields: Fields, name: string): string[] | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  const listed = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/\s+/) : [value]
  const texts = listed.filter(isText).map((text) => String(text).trim())
  const given = texts.filter((text) => text !== '')
  return given.length > 0 ? given : undefined
}

/** Seconds and the like, also as a text. */
export function numberIn(fields: Fields, name: string): number | undefined {
  const text = textIn(fields, name)
  return text !== undefined && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}

/** An answer that says no. */
export interface SaidError {
  /** As in RFC 6749 section 5.2, or the server's own. */
  code: string
  description: string | undefined
}

/** Undefined where the fields report no error: `error` in any form, or `ok` or `success` that is false. */
export function errorIn(fields: Fields): SaidError | undefined {
  const { error } = fields
  const inner = isRecord(error) ? error : Array.isArray(fields['errors']) ? fields['errors'][0] : undefined
  const own = isRecord(inner) ? inner : {}
  const description =
    textIn(fields, 'error_description') ??
    textIn(own, 'message') ??
    textIn(own, 'description') ??
    textIn(fields, 'message') ??
    textIn(fields, 'detail')
  const code = textIn(fields, 'error') ?? textIn(own, 'code') ?? textIn(own, 'type') ?? textIn(own, 'status')
  if (code !== undefined || isRecord(inner)) return { code: code ?? 'error', description }
  if (fields['ok'] !== false && fields['success'] !== false) return undefined
  return { code: textIn(fields, 'code') ?? 'error', description }
}

function isText(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
