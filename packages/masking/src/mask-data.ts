// Masks data: every text and number in it, by what it is or by the key that it belongs to. Pure.
import { hasSecretPart, isSecret } from '@sandbridge/core/config/secrets'
import type { Mask } from '@sandbridge/core/parts'
import { isRecord } from '@sandbridge/core/util/json/json.ts'

/**
 * Masks every string in the data, keys included; a number that matches becomes a token.
 * @param key the key whose value the data is: it can mark a value that nothing else marks
 */
export function maskData(data: unknown, mask: Mask, key?: string): unknown {
  if (typeof data === 'string') return mask(data, key)
  if (typeof data === 'number' || typeof data === 'bigint') {
    // A number beside a word such as `max` is a count.
    const masked = mask(String(data), key !== undefined && isSecret(key, data) ? key : undefined)
    return masked === String(data) ? data : masked
  }
  if (Array.isArray(data)) return data.map((item) => maskData(item, mask, keyOfItem(item, key)))
  if (!isRecord(data)) return data
  const keyOf = keysOf(data, key)
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [mask(name), maskData(value, mask, keyOf(name))]),
  )
}

/**
 * Returns which key tells what a value of a record is. This is its own, unless the key of the record or a name beside
 * the value tells more: `{"tokens": {"ci": …}}`, `{"secret": {"value": …}}`, `{"name": "DB_PASSWORD", "value": …}`.
 */
export function keysOf(data: Record<string, unknown>, above: string | undefined): (name: string) => string {
  const outer = above !== undefined && hasSecretPart(above) ? above : undefined
  const beside = Object.entries(data).find(([name, value]) => /^(?:name|key)$/i.test(name) && typeof value === 'string')
  const named = beside && hasSecretPart(String(beside[1])) ? String(beside[1]) : outer
  if (named === undefined) return (name) => name
  return (name) => {
    if (hasSecretPart(name)) return name
    return (/^value$/i.test(name) ? named : outer !== undefined && /s$/i.test(outer) ? outer : undefined) ?? name
  }
}

/** Each of `cookies` is a cookie: not all that is known of it is secret. */
export const keyOfItem = (item: unknown, key: string | undefined): string | undefined =>
  isRecord(item) ? key?.replace(/s$/i, '') : key
