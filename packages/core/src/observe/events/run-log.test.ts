// This file verifies that a run's log lines name the run, are limited in number, and report each failure once.
import { beforeEach, expect, it, vi } from 'vitest'
import { BridgeError } from '../../errors.ts'
import { createLog, SILENT } from '../../util/log.ts'
import { RunLog } from './run-log.ts'

const RUN = '3f09a1b2c4d5e6f7'
const failure = new BridgeError('UPSTREAM_TIMEOUT', 'No answer')

beforeEach(() => void vi.useFakeTimers())

it('the log of a run names the run in each line', () => {
  let written = ''
  const log = new RunLog(
    createLog('info', (line) => (written += line)),
    RUN,
  )
  log.info('one', { server: 's' })
  log.debug('too low')
  expect(written).toMatch(/^\S+ info one run="3f09a1b2" server="s"\n$/)
})

it('the log of a run has 100 lines of a level in a second, then says that more are left out', () => {
  const lines: string[] = []
  const log = new RunLog(SILENT, RUN, (level, message) => lines.push(`${level} ${message}`))
  for (let index = 0; index < 10_000; index += 1) log.debug(`call ${index}`)
  log.warning('a warning is not left out for them')
  expect(lines).toHaveLength(102)
  expect(lines.slice(99)).toEqual([
    'debug call 99',
    'debug More lines of this second are left out',
    'warning a warning is not left out for them',
  ])
  vi.advanceTimersByTime(1_000)
  log.debug('later')
  expect(lines.at(-1)).toBe('debug later')
})

it('the log of a run reports an unexpected failure once, and says each time where to read more', () => {
  const lines: unknown[][] = []
  const log = new RunLog(SILENT, RUN, (level, message, fields) => lines.push([level, message, fields()]))
  expect(log.failure('A call failed', failure, { call: 'c' })).toBe('More: `sandbridge log 3f09a1b2`.')
  expect(log.failure('A call failed', failure)).toBe('More: `sandbridge log 3f09a1b2`.')
  expect(lines).toEqual([
    ['warning', 'A call failed', { run: '3f09a1b2', call: 'c', code: 'UPSTREAM_TIMEOUT', error: 'No answer' }],
  ])
  expect(log.failure('A call failed', new TypeError('x is undefined'))).toContain('sandbridge log')
  expect(lines.at(-1)).toMatchObject(['error', 'A call failed', { error: 'x is undefined' }])
})

it('the log of a run reports no failure whose message is complete', () => {
  const lines: unknown[] = []
  const log = new RunLog(SILENT, RUN, (...line) => lines.push(line))
  for (const code of ['TOOL_FAILED', 'PROXY_TOOL_UNKNOWN', 'CANCELLED'] as const) {
    expect(log.failure('A call failed', new BridgeError(code, 'no'))).toBeUndefined()
  }
  expect(lines).toEqual([])
})

it('the log of a run masks what leaves for the client, and leaves ids as they are', () => {
  const lines: unknown[][] = []
  const log = new RunLog(SILENT, RUN, (level, message, fields) => lines.push([level, message, fields()]))
  log.mask = (text) => text.replaceAll(/\w/g, '*')
  log.info('one', { call: 'abc', error: new Error('abc'), text: 'abc', ms: 1 })
  expect(lines[0]![2]).toEqual({ run: '3f09a1b2', call: 'abc', error: '***', text: '***', ms: 1 })
})
