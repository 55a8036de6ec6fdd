// This file verifies that a recorded terminal is drawn as it looked at the end, and that the checked-in picture
// matches.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { drawSession, screenOf } from './terminal-svg.mjs'

const plain = (text: string) => screenOf(text).map((runs) => runs.map((run) => run.text).join(''))

it('the terminal SVG shows the last text of a rewritten line', () => {
  expect(plain('waiting 1 s\r\u001b[Kdone\r\nnext\r\n')).toEqual(['done', 'next', ''])
  expect(plain('12345\rab')).toEqual(['ab345'])
})

it('the terminal SVG leaves out lines that were erased from above', () => {
  expect(plain('a 1\r\nb 1\r\n\u001b[2A\r\u001b[Ja 2\r\n')).toEqual(['a 2', ''])
})

it('the terminal SVG writes colours as classes', () => {
  expect(screenOf('x \u001b[32mgreen\u001b[39m \u001b[2mdim\u001b[22m')[0]).toEqual([
    { text: 'x ', style: '' },
    { text: 'green', style: 'green' },
    { text: ' ', style: '' },
    { text: 'dim', style: 'dim' },
  ])
})

it('the terminal SVG escapes text', () => {
  const picture = drawSession([{ typed: 'echo', shown: '<b> & c\r\n' }])
  expect(picture).toContain('&lt;b&gt; &amp; c')
  expect(picture).not.toContain('<b>')
})

it('docs/demo.svg is small, and shows a cell that used two servers', () => {
  const picture = readFileSync(new URL('../../docs/demo.svg', import.meta.url), 'utf8')
  expect(picture.length).toBeLessThan(40_000)
  expect(picture).toMatch(/sandbridge exec best\.py[^]*best region: R\d/)
  expect(picture).not.toMatch(/\/work|\/tmp|\/home/)
})
