import { expect, it } from 'vitest'
import { LastLogged } from './server-reports.ts'

it('the last three log lines of the last minute are quoted', () => {
  let now = 0
  const logged = new LastLogged(() => now)
  expect(logged.text()).toBe('')
  for (const text of ['a', 'b', 'c', 'd']) {
    logged.add(text)
    now += 20_000
  }
  expect(logged.text()).toBe('b; c; d')
  expect(logged.text(3)).toBe('d')
  expect(logged.text(logged.count)).toBe('')
  now += 1
  expect(logged.text()).toBe('c; d')
  logged.clear()
  expect(logged.text()).toBe('')
})
