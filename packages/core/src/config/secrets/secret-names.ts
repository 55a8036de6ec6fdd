// Which names mark their values as secret. `concealment.py` has the same words; a test compares both. Pure.

/** Words that a name of a secret consists of. */
export const SECRET_WORDS =
  'token tokens pass pw pwd psw password passwd passphrase passcode pin otp totp secret secrets auth oauth authorization ' +
  'credential credentials cred creds cookie cookies jwt bearer sig signature mnemonic private cvv cvc ssn'
/** Parts of a name without its separators that make it one. */
export const SECRET_PART =
  'passw|passphrase|passcode|secret|credential|authorization|apikey|authkey|privatekey|accesskey|cookie|tokens?$|pwd$|' +
  '(?:db|user)pass$'
/** Beside one of these, or alone with a few others, a number is a count, not a secret. */
export const COUNTS = 'max min count num n total used limit len length size per usage budget'
export const NUMBERS_SHOWN = 'token tokens cookie cookies signature private auth pass'

const words = new Set(SECRET_WORDS.split(' '))
const part = new RegExp(SECRET_PART)
const counts = new Set(`${COUNTS} ${NUMBERS_SHOWN}`.split(' '))

function wordsOf(name: string): string[] {
  return Array.from(name.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g), ([word]) => word.toLowerCase())
}

/** Whether a name has the form of one that is nearly always a secret's, such as `access_token`. */
export function hasSecretPart(name: string): boolean {
  const found = wordsOf(name)
  return part.test(found.join('')) || found.some((word) => part.test(word))
}

export function isSecretName(name: string): boolean {
  return wordsOf(name).some((word) => words.has(word)) || hasSecretPart(name)
}

/** Whether a value of this name must not be shown. Empty values, booleans and counts may. */
export function isSecret(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === '' || typeof value === 'boolean') return false
  if (typeof value === 'number' && wordsOf(name).some((word) => counts.has(word))) return false
  return isSecretName(name)
}
