// Decides which words of a command line, and which values, are secrets, by their form or their name. Pure.
// Commands, package names, and paths and URLs without credentials are not secret: an error without them would not help.

/** Options and variables, beside names that are those of secrets everywhere. */
const SECRET_OPTION = /(^|[-_.])(\w*key|auth\w*|pat|dsn|header|H)$/i
/** An option of programs that pass variables to another program: `docker run -e NAME=value`. */
const VARIABLE_OPTION = /^(-e|--env)$/
const PREFIX =
  /^(sk|pk|rk)[-_]|^gh[pousr]_|^(github_pat|hf|npm|shpat|dop_v1|lin_api)_|^(glpat|pypi|xox[abeprs]|xapp)-|^(AKIA|ASIA|AIza|eyJ|ya29\.)/
const MIN_TOKEN_LENGTH = 10
/** Changes between letters and digits, or between cases: words and version numbers have fewer. */
const MIN_CHANGES = 4
const MIN_CASE_CHANGES = 8

/** The secret parts of a command line's arguments. A placeholder alone is not secret. */
export function secretArguments(args: readonly string[]): string[] {
  return args
    .flatMap((arg, index) => secretsOf(arg, args[index - 1]))
    .filter((secret) => !/^\$\{[^{}]*\}$/.test(secret) || secret.includes(':-'))
}

function secretsOf(arg: string, before = ''): string[] {
  const assigned = /^(-{0,2}[\w.-]+)=(.*)$/s.exec(arg)
  if (assigned) {
    const [, name = '', value = ''] = assigned
    const isVariable = VARIABLE_OPTION.test(before) || (/^(-e|--env)$/.test(name) && value !== '')
    return isVariable || isSecretOption(name) || looksLikeToken(value) ? [value] : []
  }
  if (/^--?[A-Za-z]/.test(before) && !before.includes('=') && isSecretOption(before) && !arg.startsWith('-')) {
    // For a header, the text after its name.
    const value = /^[\w-]+:\s*(.+)$/s.exec(arg)?.[1]
    return value === undefined || URL.canParse(arg) ? [arg] : [value]
  }
  return looksLikeToken(arg) ? [arg] : []
}

const isSecretOption = (name: string): boolean => SECRET_OPTION.test(name) || isSecretName(name)

/** Whether a text consists of random characters. Paths, packages and URLs are judged by their parts elsewhere. */
function looksLikeToken(text: string): boolean {
  if (/^(~|\.{1,2})?[/\\]|^[A-Za-z]:[/\\]|^@?[\w.-]+\/|:\/\//.test(text)) return false
  if (PREFIX.test(text) && text.length >= MIN_TOKEN_LENGTH) return true
  return hasRandomRun(text)
}

/** Whether a text contains a run of letters and digits that looks random. */
export function hasRandomRun(text: string): boolean {
  return text.split(/[^A-Za-z0-9]+/).some((run) => {
    if (run.length < MIN_TOKEN_LENGTH) return false
    const changes = changesIn(run, (char) => (/\d/.test(char) ? 'digit' : 'letter'))
    const cases = changesIn(run, (char) => (/[A-Z]/.test(char) ? 'upper' : 'other'))
    return /^\d+$/.test(run) || changes >= MIN_CHANGES || cases >= MIN_CASE_CHANGES
  })
}

function changesIn(run: string, kindOf: (char: string) => string): number {
  const kinds = Array.from(run, kindOf)
  return kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length
}

/** Whether a value is a path or URL without credentials: useful to show, even as the value of a variable. */
export function isPlainPlace(value: string): boolean {
  if (/^(~[/\\]|\/|[A-Za-z]:[/\\])/.test(value)) return /^[\w\\/.:~@ +,-]+$/.test(value) && !hasRandomRun(value)
  if (!/^(https?|wss?):\/\//.test(value) || !URL.canParse(value)) return false
  const { username, password, search, pathname, hash } = new URL(value)
  return username + password + search + hash === '' && !hasRandomRun(pathname)
}

/** Words that a name of a secret consists of. `concealment.py` has the same; a test compares both. */
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
