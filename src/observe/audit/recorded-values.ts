// Prepares values for the record: removes the secrets of the server's definition, and values whose key marks them as
// secret.
import type { Redactor } from '../../config/secrets/redact.ts'
import { sizeOf } from './describe-value.ts'

const SECRET_KEY =
  /pass(word|wd|phrase|code)?$|secret|token$|api[-_]?key|authorization|credential|cookie|private[-_]?key|^auth$|^pin$/i
const REDACTED = '[redacted]'
/** Keeps each line short enough for tools to read. */
const MAX_CHARS = 16_384
const MAX_STRING = 2_000
/** Limit for a value that a workflow can use. */
export const MAX_WHOLE_CHARS = 256 * 1024

/** Returns JSON of the arguments, or its start if it is long. */
export function redactArguments(args: unknown, redact: Redactor): string {
  const short = (shown: string, length: number) =>
    shown.length <= MAX_STRING ? shown : `${shown.slice(0, MAX_STRING)}… (${length} characters)`
  const whole = withoutSecrets(args, redact, short) ?? 'null'
  return whole.length <= MAX_CHARS ? whole : `${whole.slice(0, MAX_CHARS)}… (${whole.length} characters)`
}

/** Returns JSON of code, arguments or a reply for use in a workflow; undefined if it is too long. */
export function keepWhole(value: unknown, redact: Redactor): string | undefined {
  if (value === undefined || sizeOf(value) > MAX_WHOLE_CHARS) return undefined
  const whole = withoutSecrets(value, redact, (shown) => shown)
  return whole !== undefined && whole.length <= MAX_WHOLE_CHARS ? whole : undefined
}

function withoutSecrets(
  value: unknown,
  redact: Redactor,
  show: (redacted: string, length: number) => string,
): string | undefined {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (SECRET_KEY.test(key) && inner !== null && inner !== '') return REDACTED
    return typeof inner === 'string' ? show(redact(inner), inner.length) : inner
  }) as string | undefined
  // Redact the whole JSON once more: a key may contain a secret, too.
  return text === undefined ? undefined : redact(text)
}
