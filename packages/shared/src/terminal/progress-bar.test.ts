import { expect, it } from 'vitest'
import type { ProgressFrame } from '../../../core/src/cell/protocol/frames.ts'
import { ProgressBar } from './progress-bar.ts'

function open(isTTY: boolean, TERM = 'xterm') {
  const terminal = { isTTY, columns: 40, written: '', write: (text: string) => void (terminal.written += text) }
  return { terminal, bar: new ProgressBar(terminal, { TERM }) }
}

const progress = (fields: Partial<ProgressFrame>): ProgressFrame => ({ type: 'progress', cell: 1, done: 0, ...fields })

it('the progress bar draws how far the cell is, in one line that fits', () => {
  const { terminal, bar } = open(true)
  bar.listeners.onProgress(progress({ done: 3, total: 12, message: 'a long message\nof two lines' }))
  expect(terminal.written).toBe('\r\x1b[K[######------------------] 3 of 12  a l')
  bar.listeners.onToolCall({ name: 'github.search', number: 2, total: 5 })
  expect(terminal.written.endsWith('\r\x1b[Kcalling github.search (2 of 5)')).toBe(true)
  bar.listeners.onUpstreamProgress({ name: 'maps.render', done: 1, total: 2 })
  expect(terminal.written.endsWith('\r\x1b[Kmaps.render: 1 of 2')).toBe(true)
})

it('the progress bar makes room for output, and comes back below whole lines only', () => {
  const { terminal, bar } = open(true)
  bar.listeners.onProgress(progress({ done: 1 }))
  terminal.written = ''
  bar.around(() => terminal.write('out\n'), true)
  bar.around(() => terminal.write('half'), false)
  bar.clear()
  expect(terminal.written).toBe('\r\x1b[Kout\n\r\x1b[K1\r\x1b[Khalf')
})

it.each([
  ['into a pipe', false, 'xterm'],
  ['to a terminal that cannot erase a line', true, 'dumb'],
])('the progress bar writes nothing %s', (_, isTTY, term) => {
  const { terminal, bar } = open(isTTY, term)
  bar.waitFor('starting github (1 s)')
  bar.listeners.onProgress(progress({ done: 1, total: 2 }))
  bar.around(() => {}, true)
  bar.clear()
  expect(terminal.written).toBe('')
})

it('the progress bar lets no message and no odd number steer the terminal', () => {
  const { terminal, bar } = open(true)
  bar.listeners.onProgress(progress({ done: -5, total: 2, message: '\x1b[2J\x07' }))
  bar.listeners.onProgress(progress({ done: 1e9, total: 2 }))
  bar.listeners.onProgress(progress({ done: 1, total: 0 }))
  const rest = terminal.written.replaceAll('\r\x1b[K', '')
  for (const control of ['\x1b', '\x07']) expect(rest).not.toContain(control)
})

it('the progress bar writes numbers short', () => {
  const { terminal, bar } = open(true)
  bar.listeners.onProgress(progress({ done: 5.002000000000001, total: 12 }))
  bar.listeners.onProgress(progress({ done: 0.1 + 0.2 }))
  expect(terminal.written).toContain('] 5 of 12')
  expect(terminal.written).toMatch(/K0\.3$/)
})

it('the progress bar shows what the cell waits for before how far it is', () => {
  const { terminal, bar } = open(true)
  bar.waitFor('starting github (1 s)')
  expect(terminal.written).toBe('\r\x1b[Kstarting github (1 s)')
  bar.listeners.onToolCall({ name: 'github.search', number: 1, total: 1 })
  expect(terminal.written.endsWith('\r\x1b[Kstarting github (1 s)')).toBe(true)
  bar.waitFor('')
  expect(terminal.written.endsWith('\r\x1b[Kcalling github.search (1 of 1)')).toBe(true)
})
