// Checks of one field of an entry each: what it holds in the form we want, or a reason that names the field and nothing that is in it. Pure.
import { isObject } from './config-document.ts'

/** Its message is the reason why an entry is no definition. */
export class EntryInvalid extends Error {
  override readonly name = 'EntryInvalid'
}

export function requiredText(value: unknown, field: string): string {
  const text = optionalText(value, field)
  if (text === undefined || text.trim() === '') throw new EntryInvalid(`has no ${field}`)
  return text
}

export function optionalText(value: unknown, field: string): string | undefined {
  if (!isPresent(value)) return undefined
  if (typeof value !== 'string') throw new EntryInvalid(`has a ${field} that is not text`)
  if (value.includes('\0')) throw new EntryInvalid(`has a ${field} with a NUL character in it`)
  return value
}

export function texts(value: unknown, field: string): string[] | undefined {
  if (!isPresent(value)) return undefined
  if (!Array.isArray(value)) throw new EntryInvalid(`has ${field} that is not a list`)
  return value.map((item) => scalar(item, `an item of ${field}`))
}

export function textTable(value: unknown, field: string): Record<string, string> {
  if (!isPresent(value)) return {}
  if (!isObject(value)) throw new EntryInvalid(`has ${field} that is not a table of names and texts`)
  // fromEntries and not assignment: a key such as __proto__ is then a key like any other.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => isPresent(item))
      .map(([name, item]) => [name, scalar(item, `${field}.${name}`)]),
  )
}

function scalar(value: unknown, field: string): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') throw new EntryInvalid(`has a non-text value in ${field}`)
  if (value.includes('\0')) throw new EntryInvalid(`has a NUL character in ${field}`)
  return value
}

export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
