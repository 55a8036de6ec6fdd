// The cost of deciding about a call: 500 rules, 20 of them with conditions, for calls that need several conditions
// evaluated.
import type { Call } from '../../core/src/config/rules/policy.ts'
import { RulePolicy, validate } from '../src/rules/policy.ts'
import { readRules } from '../src/rules/read-rules.ts'
import { median } from '../../../bench/measure.ts'
import { ruleTexts } from '../../../bench/rule-texts.ts'
import type { BenchRow } from '../../../bench/row.ts'

const CALLS = 20_000
const GOAL_US = 50

export default async function policyRows(): Promise<BenchRow[]> {
  const text = JSON.stringify({ permissions: { deny: ruleTexts() } })
  const read = await readRules(text, { scope: 'user', file: 'bench', shown: 'bench' })
  if ('problems' in read) throw new Error(read.problems[0]?.reason)
  const policy = new RulePolicy(read.rules, 'careful')
  const times = Array.from({ length: CALLS }, (_, index) => {
    const call: Call = {
      server: `server${index % 60}`,
      tool: `get_${index % 40}`,
      args: { owner: 'acme', title: `Title ${index}`, index },
      annotations: undefined,
      definition: 'd',
      isProjects: false,
    }
    const startedAt = performance.now()
    validate(policy, call)
    return (performance.now() - startedAt) * 1_000
  })
  const us = median(times)
  return [
    {
      name: 'a decision over 500 rules, 20 with conditions (median)',
      value: `${us.toFixed(1)} µs`,
      goal: `≤ ${GOAL_US} µs`,
      ok: us <= GOAL_US,
    },
  ]
}
