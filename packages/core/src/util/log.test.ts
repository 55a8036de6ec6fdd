import { expect, it } from 'vitest'
import { createLog } from './log.ts'

it('a field of a log line controls no terminal, and is on one line', () => {
  const lines: string[] = []
  createLog('info', (line) => lines.push(line)).info('A call', { name: 'a\u009b2J\u202eb\n2026 error fake' })
  expect(lines.join('').split(' info ')[1]).toBe('A call name="a\\u009b2J\\u202eb\\n2026 error fake"\n')
})
