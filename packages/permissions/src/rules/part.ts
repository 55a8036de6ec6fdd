// What the core uses of rules.
import type { rules } from '@sandbridge/core/parts'
import { RulePolicy } from './policy.ts'

export { readRules, rulesOf } from './read-rules.ts'

type RulesPart = Awaited<ReturnType<typeof rules.for>>

export const policyOf: RulesPart['policyOf'] = (...parts) => new RulePolicy(...parts)

export const allowAlways: RulesPart['allowAlways'] = async (...answer) =>
  (await import('./remember-rule.ts')).allowAlways(...answer)

export const rememberTrust: RulesPart['rememberTrust'] = async (...answer) =>
  (await import('./remember-rule.ts')).rememberTrust(...answer)
