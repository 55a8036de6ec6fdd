// Recognises secrets: keys in their issuers' formats, and values by the names before them. All is linear. Pure.
import { hasSecretPart } from '../../config/secrets/secret-names.ts'
import { byPatterns, type Recogniser } from './by-patterns.ts'

/** What stands in place of a secret: a token, a variable's name, or a row of stars. */
const NO_SECRET = /^(?:\[[A-Za-z][A-Za-z0-9_]{0,31}\]|\$\{[\w:.-]+\}|([^A-Za-z0-9])\1*)$/

/** Whether a value of a name that marks secrets can be one. The same in text and in data. */
function isSecretValue(value: string): boolean {
  return (value.length >= 8 || SHORT_SECRET.test(value)) && !NO_SECRET.test(value)
}

/** Names of types and variables in code, and counts, are as short as this but have no letters beside digits. */
const SHORT_SECRET = /^(?=.*\d)(?=.*[A-Za-z])[\w!@#$%^&*?+~-]{6,7}$/

/**
 * Looks at the value but does not take it: a name may be in another's value, as in `--set=password=…`. A value ends at
 * the quotes that it began with, which may be escaped, as in JSON within JSON. After `=>`, which also begins the body
 * of a function, it has quotes.
 */
const NAMED_VALUE = new RegExp(
  [
    String.raw`(?<![\w-])(?<name>[\w-]{2,64})(?:\\{0,4}["'])?`,
    String.raw`(?:(?:\s|[ \t]{0,40})(?:(?:=>|:=)\s?\\{0,4}["']|[:=](?!>)(?:\s|[ \t]{0,40})(?:\\{0,4}["'])?)`,
    String.raw`|(?<=[<:]\k<name>)>(?=[^\s<>]{6,200}<\/))`,
    String.raw`(?=(?<value>(?<=>)[^\s<>"']+(?=<\/)`,
    String.raw`|(?<=\\["'])[^\s"'\\]{6,200}`,
    String.raw`|(?<=")(?:[^\s"\\]|\\\S){6,200}(?=")`,
    String.raw`|(?<=')(?:[^\s'\\]|\\\S){6,200}(?=')`,
    String.raw`|\[[A-Za-z]\w{0,31}\]`,
    // Neither the next part of a query nor brackets around it.
    String.raw`|(?:[^\s"',;}&)\]]|&(?![\w.-]{1,64}=)|[)\]](?![)\]]*(?:[\s"',;}]|$))){6,200}))`,
  ].join(''),
  'g',
)

/**
 * Keys in their issuers' formats, private keys, passwords in URLs, and values of variables whose names mark them as
 * secret.
 */
const secretTexts = byPatterns('SECRET', [
  {
    expression: /\b(?:gh[opusr]|npm|glpat|[srp]k|hf|dop_v1|shpat|xox[abeoprs]|github_pat)[-_][A-Za-z0-9_-]{16,255}/g,
    needs: /[-_][A-Za-z0-9_-]{16}/,
  },
  { expression: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, needs: /AKIA|ASIA/ },
  { expression: /\bAIza[A-Za-z0-9_-]{35}/g, needs: /AIza/ },
  {
    expression: /(?<![\w-])eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}/g,
    needs: /(?<![\w-])eyJ[A-Za-z0-9_-]{10,2000}\./,
  },
  {
    expression:
      /-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----(?:BEGIN|END) )){0,100000}(?:-----END [A-Z ]{0,40}-----)?/g,
    needs: /PRIVATE KEY(?: BLOCK)?-/,
  },
  { expression: /:\/\/[^\s:/@]{0,64}:([^\s:/@]{3,128})(?=@)/g, needs: /:\/\// },
  {
    expression: NAMED_VALUE,
    needs: /pass|secret|token|key|pwd|credential|cookie/i,
    isName: hasSecretPart,
    check: (candidate) => (isSecretValue(candidate) ? candidate.length : 0),
  },
  { expression: /\bAuthorization["']?[:=] ?["']?Basic ([A-Za-z0-9+/=]{8,2000})/gi, needs: /Basic /i },
  { expression: /\bBearer ([A-Za-z0-9._~+/-]{16,2000})/g, needs: /Bearer / },
])

/** Data has no `:` or quotes between a key and its value, but the text that it becomes has. */
export const secret: Recogniser = {
  ...secretTexts,
  isValueOf: (key, value) => /^\S+$/.test(value) && hasSecretPart(key) && isSecretValue(value),
}
