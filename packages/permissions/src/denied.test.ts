import { expect, it } from 'vitest'
import type { Rule } from '../../core/src/config/rules/rule.ts'
import { deniedByRule } from './denied.ts'

it.each([
  ['user', ': It has moved.'],
  ['project', ': Its file says: "It has moved."'],
] as const)('the error of a denied call quotes the reason of a rule unless it is of the user: %s', (scope, end) => {
  const origin = { scope, file: '/p.json', shown: 'p.json' }
  const rule = { text: '"x"', verdict: 'deny', origin, reason: 'It has moved.' } as Rule
  const error = deniedByRule({ server: 'hub', tool: 'go' }, { verdict: 'deny', by: 'rule', rule, limits: [] }, [])
  expect(error.message).toBe(`hub.go is denied by the rule deny "x" (p.json)${end}`)
})
