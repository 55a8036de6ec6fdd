// This file verifies that a rule which is saved for one tool holds for that tool alone, whatever the tool is called.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ruleFor, type RuleEntry, type Verdict } from '@sandbridge/core/config/rules'
import { RulePolicy, validate } from './policy.ts'
import { readRules } from './read-rules.ts'
import { unmatchedRules } from './unmatched-rules.ts'

async function policyWith(verdict: Verdict, entry: RuleEntry): Promise<RulePolicy> {
  const origin = { scope: 'user', file: 'permissions.json', shown: 'permissions.json' } as const
  const read = await readRules(JSON.stringify({ permissions: { [verdict]: [entry] } }), origin)
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  return new RulePolicy(read.rules, 'careful')
}

const verdictOn = (policy: RulePolicy, server: string, tool: string) =>
  validate(policy, { server, tool, args: {}, annotations: undefined, definition: 'd', isProjects: false }).verdict

it.each(['*', 'a*', '*a', 'a**b', '***', '*_*'])('the rule for a tool called %s allows no other tool', async (name) => {
  const policy = await policyWith('allow', ruleFor('hub', name))
  expect(verdictOn(policy, 'hub', name)).toBe('allow')
  for (const other of ['a', 'ab', 'axb', 'delete', 'x_y', `${name}x`])
    expect(verdictOn(policy, 'hub', other)).toBe('ask')
})

it('the rule for a tool of a server called * allows no tool of another server', async () => {
  const policy = await policyWith('allow', ruleFor('*', 'get'))
  expect([verdictOn(policy, '*', 'get'), verdictOn(policy, 'hub', 'get')]).toEqual(['allow', 'ask'])
})

it('the rule for a tool of any name allows exactly that tool', async () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '*', '_', '-', '.'), minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(name, name, async (tool, other) => {
      const policy = await policyWith('allow', ruleFor('hub', tool))
      expect(verdictOn(policy, 'hub', tool)).toBe('allow')
      if (other !== tool) expect(verdictOn(policy, 'hub', other)).toBe('ask')
    }),
  )
})

it('control: without "exact", the same rule is the pattern that it was in older files', async () => {
  const policy = await policyWith('allow', { server: 'hub', tool: 'a*' })
  expect([verdictOn(policy, 'hub', 'ab'), verdictOn(policy, 'hub', 'b')]).toEqual(['allow', 'ask'])
  expect(ruleFor('hub', 'a')).not.toHaveProperty('exact')
})

it('a rule that denies one tool called a* also denies its other spellings, and no other tool', async () => {
  const policy = await policyWith('deny', ruleFor('hub', 'a*'))
  expect([verdictOn(policy, 'hub', 'A*'), verdictOn(policy, 'hub', 'ab')]).toEqual(['deny', 'ask'])
})

it('a rule for one tool called a* counts as matched while the tools of its server are unknown', async () => {
  const { rules } = await policyWith('allow', ruleFor('hub', 'a*'))
  expect(unmatchedRules(rules, [{ name: 'hub', tools: undefined }])).toEqual([])
  expect(unmatchedRules(rules, [{ name: 'hub', tools: ['ab'] }])).toHaveLength(1)
})

it.each([
  { tool: 'a', exact: true },
  { server: 'hub', exact: true },
  { server: 'hub', tool: ' ', exact: true },
])('an exact rule without a server and a tool is refused: %j', async (entry) => {
  await expect(policyWith('allow', entry as RuleEntry)).rejects.toThrow(/exact needs|is empty/)
})
