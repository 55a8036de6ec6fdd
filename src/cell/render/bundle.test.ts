import { expect, it } from 'vitest'
import { mediaOf, textOf } from './bundle.ts'

const PNG = 'iVBORw0KGgo='

it.each([
  [{ 'text/plain': '42' }, '42'],
  [{ 'text/plain': 'x', 'text/markdown': '**x**' }, '**x**'],
  [{ 'text/plain': 'a table', 'text/html': '<table>' }, 'a table'],
  [{ 'text/plain': '<__main__.Chart object at 0x7f00>', 'text/html': '<b>chart</b>' }, '<b>chart</b>'],
  [{ 'text/plain': '<Tree at 0x7f00>', 'application/json': { a: 1 } }, '{"a":1}'],
  [{ 'text/plain': '<Thing object at 0x7f00>' }, '<Thing object at 0x7f00>'],
  [{ 'text/plain': 7 }, undefined],
  [undefined, undefined],
])('textOf(%j) is %j', (bundle, expected) => expect(textOf(bundle)).toBe(expected))

it('mediaOf takes the best image of each bundle, and each image once', () => {
  const figure = { 'text/plain': '<Figure>', 'image/png': `iVBO\nRw0K\nGgo=\n`, 'image/jpeg': '/9j/' }
  expect(mediaOf([figure, { 'image/png': PNG }, { 'audio/wav': 'UklG' }])).toEqual({
    blocks: [
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'audio', data: 'UklG', mimeType: 'audio/wav' },
    ],
    notes: [],
  })
})

it.each([
  ['not base64 at all!', /not base64/],
  ['abc', /not base64/],
  ['A'.repeat(5_000_004), /5.0 MB as base64.*make it smaller/],
])('mediaOf leaves out media that a client would refuse, and says so', (data, reason) => {
  const { blocks, notes } = mediaOf([{ 'image/png': data }])
  expect(blocks).toEqual([])
  expect(notes[0]).toMatch(reason)
})

it('mediaOf limits the number and the size of all media together', () => {
  const images = (count: number, size: number) =>
    Array.from({ length: count }, (_, index) => ({ 'image/png': String(index).padStart(8, 'A') + 'B'.repeat(size) }))
  expect(mediaOf(images(30, 4))).toMatchObject({ blocks: { length: 20 }, notes: [/at most 20/] })
  expect(mediaOf(images(10, 4_000_000)).blocks.length).toBe(4)
})
