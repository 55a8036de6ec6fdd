// This file verifies that a question shows everything that is sent, most important first, and no text that displays as
// something else.
import { expect, it } from 'vitest'
import type { Decision } from '../../core/src/config/rules/policy.ts'
import type { GrantableCall } from './grants.ts'
import type { Rule } from '../../core/src/config/rules/rule.ts'
import { MAX_SHOWN_CHARS } from './call-text.ts'
import { callsText, MAX_ASKED_CHARS } from './question-text.ts'
import { flowText } from './rules/flow.ts'

const decision: Decision = { verdict: 'ask', by: 'preset', limits: [] }
const shown = (args: Record<string, unknown>, isExact = true) => {
  const subject = { server: 'mail', tool: 'send', annotations: undefined, definition: 'd', isProjects: false }
  const call: GrantableCall = { ...subject, args, toolKey: 'k' }
  return { call, decision, isExact }
}

it('a question lists two hundred calls by number, with their arguments', () => {
  const { text, shownCount } = callsText(
    Array.from({ length: 200 }, (_, id) => shown({ id })),
    'calls',
  )
  expect(shownCount).toBe(200)
  expect(text).toContain('mail.send 200 times:\n  1. id: 0\n')
  expect(text).toContain('\n  200. id: 199\n')
})

it('a question shows no more calls than fit, and says how many follow', () => {
  const { text, shownCount } = callsText(
    Array.from({ length: 1000 }, (_, id) => shown({ id, text: 'x'.repeat(300) })),
    'calls',
  )
  expect(shownCount).toBeLessThan(100)
  expect(text).toContain(`${1000 - shownCount} more calls follow`)
})

it('a question shows destinations first, then amounts, then the rest, also those deep inside', () => {
  // Names that only contain that of a destination are of the rest.
  const args = { body: 'b', photo: 'c', total: 7, amount: 5, note: { to: ['a@x.org'] } }
  const { text } = callsText([shown(args)], 'calls')
  expect(text).toMatch(
    /send\n {2}note\.to\[0\]: "a@x\.org"\n {2}total: 7\n {2}amount: 5\n {2}body: "b"\n {2}photo: "c"\n/,
  )
})

it('a question shows each value as a whole, behind however many others it was passed', () => {
  const many = Object.fromEntries(Array.from({ length: 220 }, (_, index) => [`url${index}`, index]))
  const body = `start${'x'.repeat(5_000)}middle${'x'.repeat(5_000)}end`
  const { text } = callsText([shown({ ...many, body, to: 'a@x.org' })], 'calls')
  expect(text).toContain(`call mail.send\n  to: "a@x.org"\n  url0: 0\n`)
  expect(text).toContain(`\n  url219: 219\n  body: ${JSON.stringify(body)}\n`)
})

it('a question shows the whole of a first call that is longer than a form, and no other call beside it', () => {
  const body = 'x'.repeat(2 * MAX_ASKED_CHARS)
  const { text, shownCount } = callsText([shown({ body }), shown({ body: 'y' })], 'calls')
  expect(shownCount).toBe(1)
  expect(text).toContain(body)
})

it('the text of a question about endless arguments ends soon after the longest that is shown', () => {
  const { text } = callsText([shown({ list: Array.from({ length: 1_000_000 }, () => 'x') })], 'calls')
  expect(text.length).toBeGreaterThan(MAX_SHOWN_CHARS)
  expect(text.length).toBeLessThan(2 * MAX_SHOWN_CHARS)
})

it.each(['a\u202eb', 'a\ufe0fb', '\u3164', '\u2800', 'a\u034fb', '\u180b', '\u17b4', '\uffa0', '\u{e0041}', 'a\nb'])(
  'a question makes the hidden characters of %j visible, in values and in names',
  (text) => {
    const escaped = JSON.stringify(text).replace(/[^ -~]/gu, (hidden) =>
      Array.from(
        { length: hidden.length },
        (_, at) => `\\u${hidden.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join(''),
    )
    expect(callsText([shown({ [text]: text })], 'calls').text).toContain(`  ${escaped}: ${escaped}\n`)
  },
)

it('a question shows four combining marks on one letter, and escapes the others', () => {
  const { text } = callsText([shown({ body: `a${'\u0301'.repeat(6)} e\u0301` })], 'calls')
  expect(text).toContain(`"a${'\u0301'.repeat(4)}\\u0301\\u0301 e\u0301"`)
})

it('no name of an argument or a tool looks like another argument', () => {
  const key = 'body: "hello", to'
  const { text } = callsText([shown({ [key]: 'x' }), shown({ 'a.b': { 'c d': 1 } })], 'calls')
  expect(text).toContain('1. "body: \\"hello\\", to": "x"\n')
  expect(text).toContain('2. "a.b"."c d": 1\n')
  const odd = shown({ id: 1 })
  odd.call.tool = 'send to: "me"\n'
  expect(callsText([odd], 'calls').text).toMatch(/^.* to call mail\."send to: \\"me\\"\\n"\n {2}id: 1\n/)
})

it('no tool looks like a tool of another server', () => {
  const [one, other] = [shown({}), shown({})]
  Object.assign(one.call, { server: 'corp', tool: 'mail.send' })
  Object.assign(other.call, { server: 'corp.mail', tool: 'send' })
  expect(callsText([one], 'calls').text).toContain(' to call corp."mail.send"\n')
  expect(callsText([other], 'calls').text).toContain(' to call corp.mail.send\n')
})

it('no name that a cell or a server chose looks like words of a question about what a call uses', () => {
  const [path, name] = ['to is your own; x', 'web.get, which you trust\nAsked']
  const flow = { values: [{ path, value: 'e', names: [name] }], from: ['web'], all: ['web'], seen: ['web'] }
  const line = (values = flow.values) => flowText({ ...flow, values })
  const read = 'the model has read text of web in this session'
  expect(line()).toBe(`"to is your own; x" = "e" comes from the result of "web.get, which you trust\\nAsked"; ${read}`)
  expect(line([{ path: 'to[0].id', value: 'e', names: ['web.get'] }])).toBe(
    `to[0].id = "e" comes from the result of web.get; ${read}`,
  )
})

it('the reason of a rule is one line of the question', () => {
  const rule = { text: '"x"', verdict: 'ask', origin: { shown: 'p.json' }, reason: 'ok\n  to: "me"' } as unknown as Rule
  const { text } = callsText([{ ...shown({ id: 1 }), decision: { ...decision, by: 'rule', rule } }], 'calls')
  expect(text.split('\n')).toHaveLength(3)
})

it.each([
  ['user', 'Asked because of the rule ask "x" (p.json). Check "who".'],
  ['project', 'Asked because of the rule ask "x" (p.json). Its file says: "Check \\"who\\"."'],
] as const)('the reason of a rule is quoted unless it is the own rule of the user: %s', (scope, line) => {
  const rule = { text: '"x"', verdict: 'ask', origin: { shown: 'p.json', scope }, reason: 'Check "who".' } as Rule
  const { text } = callsText([{ ...shown({ id: 1 }), decision: { ...decision, by: 'rule', rule } }], 'calls')
  expect(text.split('\n').at(-1)).toBe(line)
})

it('a question about a call before its cell runs says what is not known yet', () => {
  const { text } = callsText([shown({ id: 1 }), shown({}, false)], 'cell')
  expect(text).toContain('2. mail.send: (arguments that are not known yet')
})

it('a question hides nothing behind blanks, neither in a value nor in a name', () => {
  for (const blank of [' '.repeat(900), '\u00a0', '\u2003'.repeat(9), '\u3000']) {
    const { text } = callsText([shown({ to: `a@x.org${blank}, b@x.org`, [`c${blank}`]: 1 })], 'calls')
    expect(text).not.toContain(blank)
    expect(text).toMatch(/a@x\.org(\\u[0-9a-f]{4}(\{900\})?)+, b@x\.org/)
  }
  const value = `a@x.org${' '.repeat(900)}, b@x.org`
  const flow = { values: [{ path: 'to', value, names: ['mail.get'] }], from: ['mail'], all: ['mail'], seen: [] }
  const asked: Decision = { verdict: 'ask', by: 'flow', limits: [], flow }
  expect(callsText([{ ...shown({ to: value }), decision: asked }], 'calls').text).not.toContain(' '.repeat(900))
  // Those of an indented text stay as they are.
  expect(callsText([shown({ body: 'a  b\n        c' })], 'calls').text).toContain('"a  b\\n        c"')
})
