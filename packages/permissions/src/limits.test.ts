// This file verifies that calls are counted for each rule by cell, session and hour.
import { expect, it } from 'vitest'
import { takeCall } from './limits.ts'
import { readRules } from './rules/read-rules.ts'
import type { Rule } from '../../core/src/config/rules/rule.ts'

async function ruleWith(limits: object): Promise<Rule> {
  const text = JSON.stringify({ permissions: { allow: [{ tool: 'a__x', ...limits }] } })
  const read = await readRules(text, { scope: 'user', file: 'f', shown: 'f' })
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  return read.rules[0]!
}

it('limits of calls are counted for each cell and each session', async () => {
  const rule = await ruleWith({ perCell: 2, perSession: 3 })
  const of = new Map<string, number>()
  const take = (cell: Map<string, number>, session = of) =>
    takeCall([rule], { cell, session, hours: new Map() }, 0)?.limit
  const [first, second] = [new Map<string, number>(), new Map<string, number>()]
  expect([take(first), take(first), take(first)]).toEqual([undefined, undefined, 'perCell'])
  expect([take(second), take(second)]).toEqual([undefined, 'perSession'])
  expect(take(new Map(), new Map())).toBe(undefined)
})

it('limits of calls per hour end after an hour, and are counted over all sessions and readings of the file', async () => {
  const hours = new Map<string, number[]>()
  const at = async (now: number) =>
    takeCall([await ruleWith({ perHour: 2 })], { cell: new Map(), session: new Map(), hours }, now)
  expect(await at(0)).toBe(undefined)
  expect(await at(1_000)).toBe(undefined)
  expect(await at(2_000)).toMatchObject({ limit: 'perHour', most: 2, waitMs: 3_598_000 })
  expect(await at(3_600_000)).toBe(undefined)
  expect(await at(3_600_001)).toMatchObject({ limit: 'perHour' })
  expect(await at(3_599_000), 'after the clock was set back').toMatchObject({ limit: 'perHour' })
})

it('limits of calls do not count a call that a rule refuses', async () => {
  const [one, other] = [await ruleWith({ perCell: 1 }), await ruleWith({ perCell: 5 })]
  const cell = new Map<string, number>()
  takeCall([one, other], { cell, session: new Map(), hours: new Map() }, 0)
  takeCall([one, other], { cell, session: new Map(), hours: new Map() }, 0)
  expect([...cell.values()]).toEqual([1, 1])
})

it('limits of calls count a call once when a file has the same rule twice', async () => {
  const twice = [await ruleWith({ perCell: 2, perHour: 2 }), await ruleWith({ perCell: 2, perHour: 2 })]
  const take = () => takeCall(twice, { cell, session: new Map(), hours }, 0)?.limit
  const [cell, hours] = [new Map<string, number>(), new Map<string, number[]>()]
  expect([take(), take(), take()]).toEqual([undefined, undefined, 'perCell'])
})
