// This file verifies that questions in the terminal are asked one at a time, with nothing drawn over them.
import { expect, it } from 'vitest'
import { whileAsking } from './ask-in-terminal.ts'
import { ProgressBar } from './progress-bar.ts'

it('the terminal asks one question at a time, also after one that failed', async () => {
  const bar = new ProgressBar({ isTTY: true, write: () => {} }, {})
  const told: string[] = []
  const ask = (name: string) =>
    whileAsking({ bar }, async () => {
      told.push(`${name} begins`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      told.push(`${name} ends`)
      if (name === 'two') throw new Error('no')
    }).catch(() => {})
  await Promise.all(['one', 'two', 'three', 'four'].map(ask))
  expect(told).toEqual(['one', 'two', 'three', 'four'].flatMap((name) => [`${name} begins`, `${name} ends`]))
})

it('the terminal draws the progress bar again when the question is over, and not before', async () => {
  const written: string[] = []
  const bar = new ProgressBar({ isTTY: true, write: (text) => written.push(text) }, {})
  bar.listeners.onProgress({ type: 'progress', cell: 1, done: 1, total: 2 })
  await whileAsking({ bar }, async () => {
    written.length = 0
    bar.listeners.onProgress({ type: 'progress', cell: 1, done: 2, total: 2 })
    await Promise.resolve()
    expect(written).toEqual([])
  })
  expect(written.join('')).toContain('2 of 2')
})
