// Code, arguments and answers as a record holds them that a workflow can be made from: whole, without secrets, or not at all.
import type { Redactor } from '../config/secrets/redact.ts'
import { sizeOf } from './describe-value.ts'
import { isSecretKey, REDACTED } from './redact-arguments.ts'

/** Of one value. A line of the record must stay one that tools can read. */
export const MAX_WHOLE_CHARS = 256 * 1024

/** JSON of the value; undefined when it is too long. */
export function keepWhole(value: unknown, redact: Redactor): string | undefined {
  if (value === undefined || sizeOf(value) > MAX_WHOLE_CHARS) return undefined
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (isSecretKey(key) && inner !== null && inner !== '') return REDACTED
    return typeof inner === 'string' ? redact(inner) : inner
  })
  // Once more over all of it: a secret may be a key, too.
  const whole = text === undefined ? undefined : redact(text)
  return whole !== undefined && whole.length <= MAX_WHOLE_CHARS ? whole : undefined
}
