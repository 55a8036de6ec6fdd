import { expect, it } from 'vitest'
import { cronEntry, launchdList, parseCron, systemdUnits } from './timer-entries.ts'

const entry = (when: string, ...words: string[]) => ({ name: 'weekly', when, command: ['/bin/sandbridge', ...words] })

it.each([
  ['0 8 * * 1', [[0], [8], undefined, undefined, [1]]],
  [
    '*/15 9-17 * * mon-fri',
    [[0, 15, 30, 45], [9, 10, 11, 12, 13, 14, 15, 16, 17], undefined, undefined, [1, 2, 3, 4, 5]],
  ],
  ['5/20 0 1,15 jan *', [[5, 25, 45], [0], [1, 15], [1], undefined]],
  ['0 0 * * 0,7', [[0], [0], undefined, undefined, [0]]],
])('a schedule is translated for timers: %s', (when, times) => expect(parseCron(when)).toEqual(times))

it.each([
  '',
  '* * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * * 13 *',
  '* * * * 8',
  '5-1 * * * *',
  '*/0 * * * *',
  'x * * * *',
  '@daily',
  '* * * * * *',
  '1,,2 * * * *',
])('a schedule that timers cannot have is refused: %j', (when) => expect(() => parseCron(when)).toThrow())

it('a timer entry quotes every word, so that an argument stays one argument', () => {
  const words = ["it's", '$(touch x)', '100%', 'a\\"b']
  expect(cronEntry(entry('0 8 * * 1', ...words))).toBe(
    `0 8 * * 1 /bin/sandbridge 'it'\\''s' '$(touch x)' 100\\% 'a\\"b'\n`,
  )
  expect(systemdUnits(entry('0 8 * * 1', ...words))).toContain(
    `ExecStart="/bin/sandbridge" "it's" "$$(touch x)" "100%%" "a\\\\\\"b"\n`,
  )
  expect(launchdList(entry('0 8 * * 1', '<&>'))).toContain('<string>&lt;&amp;&gt;</string>')
})

it('a timer entry means the same for systemd and launchd', () => {
  expect(systemdUnits(entry('30 8,20 * * 1-5'))).toContain('OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 08,20:30:00\n')
  expect(() => systemdUnits(entry('0 0 1 * 1'))).toThrow('systemd cannot wait')
  const either = launchdList(entry('0 0 1 * 1'))
  expect(either.match(/<dict><key>Minute/g)).toHaveLength(2)
  expect(() => launchdList(entry('0-59 0-23 * * *'))).toThrow('launchd would need 1440 entries')
})
