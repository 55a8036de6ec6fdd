// Arguments as the full record has them: without the secrets of the server's definition, and without values whose key says that they are one.
import type { Redactor } from '../config/secrets/redact.ts'

const SECRET_KEY =
  /pass(word|wd|phrase|code)?$|secret|token$|api[-_]?key|authorization|credential|cookie|private[-_]?key|^auth$|^pin$/i
export const REDACTED = '[redacted]'
/** One line must stay one that tools can read. */
const MAX_CHARS = 16_384
const MAX_STRING = 2_000

export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key)
}

/** JSON of the arguments, or a part of it when that is long. */
export function redactArguments(args: unknown, redact: Redactor): string {
  const text = JSON.stringify(args, (key, value: unknown) => {
    if (isSecretKey(key) && value !== null && value !== '') return REDACTED
    if (typeof value !== 'string') return value
    const shown = redact(value)
    return shown.length <= MAX_STRING ? shown : `${shown.slice(0, MAX_STRING)}… (${value.length} characters)`
  })
  // Once more over all of it: a secret may be a key, too.
  const whole = redact(text ?? 'null')
  return whole.length <= MAX_CHARS ? whole : `${whole.slice(0, MAX_CHARS)}… (${whole.length} characters)`
}
