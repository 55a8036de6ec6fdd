// This file verifies that a value is masked as a whole however a program spells it, and that its token stands for the
// value itself. Python, bash and Node spell the texts, and so does what they print.
import { execFileSync } from 'node:child_process'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { needsProgram } from '../../../core/test/support/suite/needs.ts'
import { MASK_KINDS } from '../../../core/src/config/settings/sandbox.ts'
import { createMaskers } from '../part.ts'

const VALUES = [
  'ann.lee@corp.example',
  "o'neil@corp.example",
  'r&d@corp.example',
  'jürgen.größe@bücher.example',
  '+49 30 1234567',
  '415-555-0100',
  '4111 1111 1111 1111',
  '4111\u00a01111\u00a01111\u00a01111',
  'DE89 3704 0044 0532 0130 00',
  '93.184.216.34',
  '2606:2800:220:1::1',
  'ghp_0123456789abcdefghij0123456789abcdef',
  'AKIAABCDEFGHIJKLMNOP',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.dozjgNryP4J3jVmNHl0w5N',
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIB\nADANBgkq\n-----END PRIVATE KEY-----',
  'TCK-123456',
]
/** Also of values that only their name or their place marks. */
const MARKED: [before: string, value: string, after: string][] = [
  ['password=', 'hunter22xx', ''],
  ['the API_KEY: ', 'Zq8-Lm2_Rt5', ''],
  ['mysql://root:', 'p@ssw0rd1', '@db.internal/x'],
  ['Authorization: Bearer ', 'abcdef0123456789abcdef', ''],
]
const NEIGHBOURS = [
  '\n',
  '\t',
  '\r\n',
  ' ',
  '"',
  '<',
  '>',
  '(',
  ',',
  '; ',
  '\\',
  '\u2028',
  '€',
  '\u0000',
  '\u001b[0m ',
  '|',
]

const ENDS = ['\n', '\t', '\r\n', ' ', '"', '; ', '\u0000']

/** A generator of numbers with a seed (mulberry32). */
function random(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d_2b_79_f5) | 0
    let bits = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) % below
  }
}

interface Sample {
  text: string
  value: string
}

function samples(): Sample[] {
  const below = random(75)
  const near = (): string => NEIGHBOURS[below(NEIGHBOURS.length)]!
  const all = [...VALUES.map((value) => ['', value, ''] as const), ...MARKED]
  return Array.from({ length: 400 }, (_, at) => {
    const [before, value, after] = all[at % all.length]!
    // Other signs may belong to a password.
    const end = before.endsWith('=') || before.endsWith(': ') ? ENDS[below(ENDS.length)]! : near()
    return { text: `see${near()}${near()}${before}${value}${after}${end}nothing else`, value }
  })
}

const PYTHON = `
import email.charset, email.header, json, pprint, quopri, sys, urllib.parse, html, shlex
QUOTED = email.charset.Charset("utf-8")
QUOTED.header_encoding = email.charset.QP
def spellings(text):
    record = {"id": 7, "note": text, "rows": [text]}
    yield "repr", repr(text)
    yield "repr of a record", repr(record)
    yield "pprint", pprint.pformat(record, width=10_000)
    yield "bytes", repr(text.encode())
    yield "ascii", ascii(text)
    yield "JSON", json.dumps(record)
    yield "JSON with its letters", json.dumps(record, ensure_ascii=False, indent=2)
    yield "JSON in JSON", json.dumps({"body": json.dumps(record)})
    yield "repr of JSON", repr(json.dumps(record))
    yield "repr of JSON in JSON", repr({"content": [{"text": json.dumps({"body": json.dumps(text)})}]})
    yield "URL", "https://x.example/?q=" + urllib.parse.quote(text, safe="")
    yield "HTML", "<p>" + html.escape(text) + "</p>"
    # The line breaks of a key cannot be told from these.
    if "PRIVATE KEY" not in text:
        yield "folded", "\\n".join(text[at:at + 7] for at in range(0, len(text), 7))
        yield "MIME in base64", "Subject: " + email.header.Header(text, "utf-8").encode()
        yield "MIME quoted", "Subject: " + email.header.Header(text, QUOTED).encode()
        yield "all quoted-printable", "".join(f"={byte:02X}" for byte in text.encode())
        # Where a value that its name marks ends, this does not say.
        if "password=" not in text and "API_KEY" not in text: yield "quoted-printable", quopri.encodestring(text.encode()).decode()
json.dump([[list(one) for one in spellings(text)] for text in json.load(sys.stdin)], sys.stdout)
`

const BASH = `while IFS= read -r -d '' text; do
  printf '%q\\0' "$text"; LC_ALL=C printf '%q\\0' "$text"; printf '%s\\0' "\${text@Q}" "$(declare -p text)"
done`
const BY_BASH = ['bash %q', 'bash %q in ASCII', 'bash @Q', 'bash declare -p']

/** Bash has no text with a null character. */
function byBash(texts: readonly string[]): [how: string, spelling: string][][] {
  const input = texts.map((text) => `${text.replaceAll('\0', ' ')}\0`).join('')
  const written = execFileSync('bash', ['-c', BASH], { input, encoding: 'utf8' }).split('\0')
  return texts.map((_, at) => BY_BASH.map((how, form) => [how, written[at * BY_BASH.length + form]!]))
}

function spelled(texts: readonly string[]): [how: string, spelling: string][][] {
  const byPython = JSON.parse(
    execFileSync('python3', ['-c', PYTHON], { input: JSON.stringify(texts), encoding: 'utf8', maxBuffer: 2 ** 26 }),
  ) as [string, string][][]
  const bash = byBash(texts)
  return texts.map((text, at) => [
    ['the text itself', text],
    ...byPython[at]!,
    ...bash[at]!,
    ['JSON.stringify', JSON.stringify({ note: text })],
    ['JSON.stringify twice', JSON.stringify(JSON.stringify([text], undefined, 2))],
    ['console.log', inspect({ note: [text] })],
  ])
}

const masker = () =>
  createMaskers({ kinds: MASK_KINDS, patterns: [{ name: 'ticket', pattern: 'TCK-[0-9]{6}' }] }).of({})

/** The values of all tokens in a masked text. */
function valuesIn(masked: string, one: ReturnType<typeof masker>): string[] {
  return Array.from(masked.matchAll(/\[[A-Z]+_\d+\]/g), ([token]) => one.unmask(token))
}

describe('a masked value', () => {
  it('is masked as a whole in each spelling, and its token gives back itself', () => {
    needsProgram('python3')
    needsProgram('bash')
    const wrong: string[] = []
    const all = samples()
    const spellings = spelled(all.map(({ text }) => text))
    for (const [at, { value, text }] of all.entries())
      for (const [how, spelling] of spellings[at]!) {
        const one = masker()
        one.returned({ content: [{ type: 'text', text }] })
        const masked = one.maskedNow(spelling)!
        const values = valuesIn(masked, one)
        if (values.length === 0 || values.some((found) => found !== value))
          wrong.push(`${how}: ${spelling} → ${masked} ${JSON.stringify(values)}`)
      }
    expect(wrong.slice(0, 20)).toEqual([])
    expect(wrong).toHaveLength(0)
  })

  it('has a token that is not put back where it can be one of two and no server has returned either', () => {
    const one = masker()
    expect(one.maskedNow(String.raw`C:\new@x.example`)).toBe(String.raw`C:\[EMAIL]`)
    expect(one.maskedNow(String.raw`'C:\new@x.example'`)).toBe(String.raw`'C:\n[EMAIL_1]'`)
    one.returned({ structuredContent: { owner: String.raw`C:\new@x.example` } })
    const masked = one.maskedNow(String.raw`C:\new@x.example`)!
    expect([masked, one.unmask(masked)]).toEqual([String.raw`C:\[EMAIL_2]`, String.raw`C:\new@x.example`])
  })
})
