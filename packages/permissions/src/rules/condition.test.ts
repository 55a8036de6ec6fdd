// This file verifies what `from` and `seen` stand for in a condition.
import { expect, it } from 'vitest'
import type { FlowFacts } from '@sandbridge/core/config/rules'
import { compileCondition } from './condition.ts'

/** `web` returned the text `bait`, and the name of an argument `odd`; the model has read it. */
const flow = {
  seen: ['web'],
  originOf: (value: unknown) => ({ servers: /"(?:bait|odd)"/.test(JSON.stringify(value)) ? ['web'] : [] }),
  isKnownWord: (word: string) => word !== 'odd',
} as unknown as FlowFacts

const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
const CALL = { server: 'mail', tool: 'send', annotations }

it.each([
  ["'web' in from(args.to)", { to: 'bait', text: 'hello' }, true],
  ["'web' in from(args.to)", { to: 'ann', text: 'bait' }, false],
  ["'web' in from(args)", { to: 'ann', text: 'bait' }, true],
  ["'web' in from(args)", { to: 'ann', odd: 'hello' }, true],
  ["'web' in from(args)", { to: 'ann', text: 'hello' }, false],
  ["from(args.to).exists(s, s != 'contacts')", { to: 'bait' }, true],
  ["'web' in seen", {}, true],
  ["'contacts' in seen", {}, false],
])('%s is, for the arguments %j, %s', async (text, args, holds) => {
  const condition = await compileCondition(text)
  if (!('holds' in condition)) throw new Error(condition.reason)
  expect(condition.usesFlow).toBe(true)
  expect(condition.holds({ ...CALL, args, flow })).toBe(holds)
  // Where flows are not followed, it cannot be judged.
  expect(condition.holds({ ...CALL, args })).toBeUndefined()
})
