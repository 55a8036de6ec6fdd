// Recognises secrets: keys in their issuers' formats, and values by the names before them. All is linear. Pure.
import { hasSecretPart } from '@sandbridge/core/config/secrets'
import { bareLength } from './bare-values.ts'
import { byPatterns, type Recogniser } from './by-patterns.ts'
import { URL_PASSWORD } from './email-recogniser.ts'
import { privateKeys, webTokens } from './long-secrets.ts'

/** What stands in place of a secret: a token, a variable's name, or a row of stars. */
const NO_SECRET = /^(?:\[[A-Za-z][A-Za-z0-9_]{0,31}\]|\$\{[\w:.-]+\}|([^A-Za-z0-9])\1{0,999})$/

/** Names that others than secrets have, too: only a value that is no word is a secret. */
const PASS_NAME = /(?:^|[_.-])(?:[Pp]ass|PASS|[Pp]w|PW|[Bb]earer|BEARER)$|[a-z\d](?:Pass|P[wW]|Bearer)$/
/** A word with a digit or a sign in it. */
export const NO_WORD = /^(?=.*\p{L})(?=.*[\d!@#$%^&*+=~?])/su

const isSecretKey = (name: string): boolean => hasSecretPart(name) || PASS_NAME.test(name)

/** Whether a value of a name that marks secrets can be one. The same in text and in data. */
function isSecretValue(name: string, value: string): boolean {
  if (!hasSecretPart(name) && !(PASS_NAME.test(name) && NO_WORD.test(value))) return false
  return (value.length >= 8 || SHORT_SECRET.test(value)) && !NO_SECRET.test(value)
}

/** In data, a value of such a name is one that a person chose: it may have spaces, quotes and letters of any script. */
const PASSWORD_NAME = /(?:passw(?:or)?d|passphrase|passcode|pwd)$/i

/** A short Latin word is a type or a state more often than a password. */
const isPassword = (name: string, value: string): boolean =>
  PASSWORD_NAME.test(name) && value.length >= 4 && !/^[A-Za-z]{1,7}$/.test(value) && !NO_SECRET.test(value)

/** Names of types and variables in code, and counts, are as short as this but have no letters beside digits. */
const SHORT_SECRET = /^(?=.*\d)(?=.*[A-Za-z])[\w!@#$%^&*?+~-]{6,7}$/

/**
 * Looks at the value but does not take it: a name may be in another's value, as in `--set=password=…`. A value ends at
 * the quotes that it began with.
 */
const VALUE = [
  String.raw`(?=(?<value>(?<=>)[^\s<>"']+(?=<\/)`,
  String.raw`|(?<=")(?:[^\s"\\]|\\\S){6,200}(?=")`,
  String.raw`|(?<=')(?:[^\s'\\]|\\\S){6,200}(?=')`,
  String.raw`|[^\s\0-\x1F\x7F"',;}]{6,200}))`,
].join('')

/** After `=>`, which also begins the body of a function, a value has quotes. */
const NAMED_VALUE = new RegExp(
  [
    String.raw`(?<![\w-])(?<name>[\w-]{2,64})["']?`,
    String.raw`(?:(?:\s|[ \t]{0,40})(?:(?:=>|:=)\s?["']|[:=](?!>)(?:\s|[ \t]{0,40})["']?)`,
    String.raw`|(?<=[<:]\k<name>)>(?=[^\s<>]{6,200}<\/))`,
    VALUE,
  ].join(''),
  'g',
)

/** As data is printed: its names have quotes, and so have texts. */
const PASSWORD_IN_DATA = new RegExp(
  [
    String.raw`(["'])(?<name>[\w.-]{2,64})\1\s{0,40}(?::|=>)\s{0,40}["'](?=(?<value>`,
    String.raw`(?<=")(?:[^"\\\r\n]|\\[^\r\n]){4,200}(?=")|(?<=')(?:[^'\\\r\n]|\\[^\r\n]){4,200}(?='))`,
    String.raw`["'](?:\s{0,40}[,;)}\]]|\s{0,40}$|\r?\n))`,
  ].join(''),
  'g',
)

/** As in lists of variables: `{"name": "DB_PASSWORD", "value": …}`, also in YAML and as attributes of XML. */
const NAME_AND_VALUE = new RegExp(
  [
    String.raw`(?<![\w-])(?:name|key)["']?[ \t]{0,40}[:=]>?[ \t]{0,40}["']?`,
    String.raw`(?<name>[\w.-]{2,64})["']?,?\s{1,60}["']?`,
    String.raw`value["']?[ \t]{0,40}[:=]>?[ \t]{0,40}["']?`,
    VALUE,
  ].join(''),
  'gi',
)

/** As in prose, commands and tables: `the password is …`, `--token …`, `| secret | … |`. Such a value is no word. */
const AFTER_NAME = new RegExp(
  [
    String.raw`(?:[Pp]ass(?:w|phrase)|PASS(?:W|PHRASE)|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Aa]pi[ _-]?[Kk]ey|API[ _-]?K(?:ey|EY))`,
    String.raw`\w{0,20}(?: (?:is|for [\w.@-]{1,64}))?(?:[^\w\r\n]|<\/?\w{1,10}>|\r?\n[ \t]{1,40}(?=\S)){1,20}?`,
    String.raw`((?=[^\s\d]*\d)(?=[^\sa-z]*[a-z])(?=[^\sA-Z]*[A-Z])[\w!@#$%^*+~.-]{7,200}[\w!@#$%^*+~-])`,
  ].join(''),
  'g',
)

const valueLength = (candidate: string, text: string, start: number, name: string): number => {
  const before = text[start - 1]!
  // As in what a test says: `PASS: test_1`.
  if (/^(?:pass|bearer)$/i.test(name) && !/["'>=]/.test(before)) return 0
  const length = /["'>]/.test(before) ? candidate.length : bareLength(candidate, text, start)
  return isSecretValue(name, candidate.slice(0, length)) ? length : 0
}

/** Keys in their issuers' formats, passwords in URLs, and values of variables whose names mark them as secret. */
const secretTexts = byPatterns('SECRET', [
  {
    expression: /\b(?:gh[opusr]|npm|glpat|[srp]k|hf|dop_v1|shpat|xox[abeoprs]|github_pat)[-_][A-Za-z0-9_-]{16,255}/g,
    needs: /[-_][A-Za-z0-9_-]{16}/,
  },
  { expression: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, needs: /AKIA|ASIA/ },
  { expression: /\bAIza[A-Za-z0-9_-]{35}/g, needs: /AIza/ },
  { expression: /\bSG\.[\w-]{16,64}\.[\w-]{16,128}/g, needs: /SG\./ },
  { expression: URL_PASSWORD, needs: /:\/\// },
  {
    expression: NAMED_VALUE,
    needs: /pass|secret|token|key|pw|credential|cookie|bearer/i,
    isName: isSecretKey,
    check: valueLength,
  },
  {
    expression: PASSWORD_IN_DATA,
    needs: /pass|pwd/i,
    check: (value, _text, _start, name) => (isPassword(name, value) ? value.length : 0),
  },
  { expression: AFTER_NAME, needs: /pass(?:w|phrase)|secret|token|api[ _-]?key/i },
  { expression: NAME_AND_VALUE, needs: /value/i, isName: isSecretKey, check: valueLength },
  {
    expression: /\bAuthorization["']?[ \t]{0,40}[:=]>?[ \t]{0,40}["']?Basic[ \t]{1,8}([A-Za-z0-9+/=]{8,2000})/gi,
    needs: /Basic[ \t]/i,
  },
  { expression: /\bBearer ([A-Za-z0-9._~+/-]{16,2000})/g, needs: /Bearer / },
])

const LIST = /(?<![\w-])([\w-]{2,64})["']?[ \t]{0,40}[:=]>?[ \t]{0,40}[[{(]/g
/** A string, perhaps with a key before it. */
const ITEM = /\s{0,80}(?:["']?[\w.-]{1,64}["']?\s{0,40}[:=]>?\s{0,40})?(["'])((?:(?!\1)(?:[^\\\r\n]|\\.)){0,200})\1,?/y

/** Secrets in lists and records whose name is that of many: `'passwords': ['…']`, `"tokens": {"ci": "…"}`. */
function secretItems(text: string): { start: number; end: number }[] {
  const items: { start: number; end: number }[] = []
  let read = 0
  for (const { 0: head, 1: name, index } of text.matchAll(LIST)) {
    if (index < read || !/s$/i.test(name!) || !hasSecretPart(name!)) continue
    read = index + head.length
    ITEM.lastIndex = read
    for (let item = ITEM.exec(text); item; item = ITEM.exec(text)) {
      read = ITEM.lastIndex
      const [whole, quotes, value] = item as unknown as [string, string, string]
      const end = read - quotes.length - (whole.endsWith(',') ? 1 : 0)
      // The words of a text are tokens, too.
      const isWord = /tokens$/i.test(name!) && /^\p{L}+$/u.test(value)
      if (!isWord && /^\S+$/.test(value) && isSecretValue(name!, value)) items.push({ start: end - value.length, end })
    }
  }
  return items
}

/** The value of a header, which is one of data with a space. */
const BASIC = /^Basic +[A-Za-z0-9+/=]{8}[A-Za-z0-9+/=]*$/i

/** Data has no `:` or quotes between a key and its value, but the text that it becomes has. */
export const secret: Recogniser = {
  label: 'SECRET',
  find: (text) =>
    [...privateKeys(text), ...webTokens(text), ...secretItems(text)]
      .map((place) => ({ ...place, label: 'SECRET' }))
      .concat(secretTexts.find(text)),
  isValueOf: (key, value) =>
    isPassword(key, value) || (/\s/.test(value) ? hasSecretPart(key) && BASIC.test(value) : isSecretValue(key, value)),
}
