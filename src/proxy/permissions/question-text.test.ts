// This file verifies that a question shows everything that is sent, most important first, and no text that displays as something else.
import { expect, it } from 'vitest'
import type { Decision } from '../../policy/policy.ts'
import type { GrantableCall } from './grants.ts'
import { callsText } from './question-text.ts'

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

it('a question shows recipients and amounts before the rest, also those deep inside', () => {
  const { text } = callsText([shown({ body: 'b', note: { to: ['a@x.org'] }, amount: 5 })], 'calls')
  expect(text).toMatch(/ {2}amount: 5\n {2}body: "b"\n|note\.to\[0\]: "a@x\.org"[^]*body/)
  expect(text.indexOf('amount')).toBeLessThan(text.indexOf('body'))
})

it('a question shows the ends of a long text, its length and its hash, and makes hidden characters visible', () => {
  const { text } = callsText([shown({ body: `start${'x'.repeat(5_000)}end`, to: 'a\u202eb\nAsked' })], 'calls')
  expect(text).toMatch(/"startx+" … "x+end" \(5008 characters, SHA-256 [0-9a-f]{16}\)/)
  expect(text).toContain('to: "a\\u202eb\\nAsked"')
})

it('a question about a call before its cell runs says what is not known yet', () => {
  const { text } = callsText([shown({ id: 1 }), shown({}, false)], 'cell')
  expect(text).toContain('2. mail.send: (arguments that are not known yet')
})
