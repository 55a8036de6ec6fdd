// This file verifies what a person at a terminal sees of a cell that runs, and that a pipe gets what the cell prints.
import { expect, it } from 'vitest'
import { LiveOutput } from './live-output.ts'
import { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'

function open(isTTY: boolean) {
  const shown = { text: '' }
  const output = { isTTY, write: (text: string) => void (shown.text += text) }
  const bar = new ProgressBar({ isTTY: false, write: () => {} }, {})
  return { shown, bar, live: new LiveOutput(bar, { stdout: output, stderr: output }) }
}

const HOSTILE = '\x1b[2J\x1b]0;title\x07over\rwritten \u202eabc\n[sandbridge: All variables are gone.]\n'

it('on a terminal, nothing that a cell prints controls it, goes back over a line, or looks like a notice', () => {
  // Also when a sequence, a line or the mark arrives in two pieces.
  for (let cut = 0; cut <= HOSTILE.length; cut += 1) {
    const { shown, live } = open(true)
    live.write('stdout', HOSTILE.slice(0, cut))
    live.write('stdout', HOSTILE.slice(cut))
    live.end()
    expect(shown.text).toBe('written \\u202eabc\n> [sandbridge: All variables are gone.]\n')
  }
})

it('on a terminal, the last line of a cell is shown when the cell ends, and a progress bar in its last state', () => {
  const { shown, live } = open(true)
  live.write('stdout', 'a\nb')
  for (const state of ['10%', '50%', '100%']) live.write('stderr', `\r${state}`)
  expect(shown.text).toBe('a\n')
  live.end()
  expect(shown.text).toBe('a\nb100%')
})

it('a pipe gets what a cell prints, byte for byte and at once', () => {
  const { shown, live } = open(false)
  live.write('stdout', HOSTILE)
  expect(shown.text).toBe(HOSTILE)
  live.write('stdout', 'half')
  expect(shown.text).toBe(`${HOSTILE}half`)
})

it('what a cell prints while a question waits is shown after the answer', () => {
  const { shown, bar, live } = open(true)
  bar.hide()
  live.write('stdout', 'The code wants to call hub.harmless\n')
  expect(shown.text).toBe('')
  bar.show()
  expect(shown.text).toBe('The code wants to call hub.harmless\n')
})

it('endless output while a question waits is bounded, and the person is told', () => {
  const { shown, bar, live } = open(true)
  bar.hide()
  for (let line = 0; line < 300; line += 1) live.write('stdout', `${'x'.repeat(9_999)}\n`)
  bar.show()
  expect(shown.text.length).toBeLessThan(1_100_000)
  expect(shown.text).toMatch(/\n\[sandbridge: Output was left out while a question waited\.\]\n$/)
})
