import { expect, it } from 'vitest'
import { TimeLimit } from '../../../cell/time-limit.ts'
import { stillRunning } from './late-answers.ts'
import { OpenRun } from './open-run.ts'

it('a late call says whether its cell runs or waits for the user', async () => {
  const run = new OpenRun({})
  const limit = new TimeLimit(60_000)
  run.pauses(limit)
  const said = (): string => JSON.stringify(stillRunning(run, true, 'compact').content)
  expect(said()).toMatch(/This cell has been running for \d+ s and goes on/)
  await limit.hold(Promise.resolve().then(() => expect(said()).toContain('This cell waits for the user to answer')))
  expect(said()).not.toContain('waits for the user')
})
