import { expect, it } from 'vitest'
import { mediaOf, textOf } from './bundle.ts'

const PNG = 'iVBORw0KGgo='
const PNG_START = 'iVBORw'

it.each([
  [{ 'text/plain': '42' }, '42'],
  [{ 'text/plain': 'x', 'text/markdown': '**x**' }, '**x**'],
  [{ 'text/plain': 'a table', 'text/html': '<table>' }, 'a table'],
  [{ 'text/plain': '<__main__.Chart object at 0x7f00>', 'text/html': '<b>chart</b>' }, '<b>chart</b>'],
  [{ 'text/plain': '<Tree at 0x7f00>', 'application/json': { a: 1 } }, '{"a":1}'],
  [{ 'text/plain': '<Thing object at 0x7f00>' }, '<Thing object at 0x7f00>'],
  [{ 'text/plain': '<IPython.core.display.HTML object>', 'text/html': '<b>x</b>' }, '<b>x</b>'],
  [{ 'text/plain': '<IPython.core.display.Image object>', 'image/png': PNG }, undefined],
  [{ 'text/plain': 7 }, undefined],
  [undefined, undefined],
])('textOf(%j) is %j', (bundle, expected) => expect(textOf(bundle)).toBe(expected))

it('mediaOf takes the best image of each bundle, and that of a value only if it was not displayed', () => {
  const figure = { 'text/plain': '<Figure>', 'image/png': `iVBO\nRw0K\nGgo=\n`, 'image/jpeg': '/9j/' }
  const image = { type: 'image', data: PNG, mimeType: 'image/png' }
  const audio = { type: 'audio', data: 'UklG', mimeType: 'audio/wav' }
  const displays = [figure, { 'text/plain': 'x' }, { 'image/png': PNG }, { 'audio/wav': 'UklG' }]
  const found = { blocks: [image, image, audio], of: [0, 2, 3], notes: [] }
  expect(mediaOf(displays)).toEqual(found)
  expect(mediaOf(displays, figure)).toEqual(found)
  expect(mediaOf([], figure)).toEqual({ blocks: [image], of: [0], notes: [] })
})

it.each([
  ['not base64 at all!', /not base64/],
  ['abcde', /not base64/],
  ['aGVsbG8=', /no PNG, JPEG, WebP or GIF/],
  ['A'.repeat(5_000_004), /5.0 MB as base64.*make it smaller/],
])('mediaOf leaves out media that a client would refuse, and says so', (data, reason) => {
  const { blocks, notes } = mediaOf([{ 'image/png': data }])
  expect(blocks).toEqual([])
  expect(notes[0]).toMatch(reason)
})

it.each([
  ['image/png', '/9j/4AAQ', '/9j/4AAQ', 'image/jpeg'],
  ['image/jpeg', 'R0lGODlh', 'R0lGODlh', 'image/gif'],
  ['IMAGE/PNG; charset=binary', 'UklGRiQAAABXRUJQ', 'UklGRiQAAABXRUJQ', 'image/webp'],
  ['image/bmp', 'iVBORw0KGgo', PNG, 'image/png'],
  ['image/png', 'iVBORw0K_-8', 'iVBORw0K/+8=', 'image/png'],
])('an image is of the type that it is, not of the one it is given: %s with %s', (named, given, data, mimeType) => {
  expect(mediaOf([{ [named]: given }])).toMatchObject({ blocks: [{ type: 'image', data, mimeType }], notes: [] })
})

it('an image that models do not take is told of, unless the bundle has another form', () => {
  const why = 'An image or audio item (image/bmp) is not shown: it is no PNG, JPEG, WebP or GIF'
  expect(mediaOf([{ 'image/bmp': 'Qk1GAAAA' }])).toMatchObject({ blocks: [], notes: [`${why}.`] })
  expect(mediaOf(Array.from({ length: 3 }, () => ({ 'image/bmp': 'Qk1GAAAA' }))).notes).toEqual([
    `${why}; 2 more like it.`,
  ])
  const svg = { 'image/svg+xml': 'PHN2Zy8+', 'text/plain': '<image/svg+xml, 6 bytes>' }
  expect(mediaOf([svg]).notes).toEqual([why.replace('bmp', 'svg+xml').concat('.')])
  // Control: SVG as text is shown as such.
  expect(mediaOf([{ 'image/svg+xml': '<svg/>', 'text/plain': 'a' }])).toMatchObject({ blocks: [], notes: [] })
  expect(mediaOf([{ 'image/bmp': 'Qk1GAAAA', 'image/png': PNG }]).notes).toEqual([])
})

it('mediaOf limits the number and the size of all media together', () => {
  const images = (count: number, size: number) =>
    Array.from({ length: count }, (_, index) => ({
      'image/png': `${PNG_START}${String(index).padStart(6, 'A')}${'B'.repeat(size)}`,
    }))
  expect(mediaOf(images(30, 4))).toMatchObject({ blocks: { length: 20 }, notes: [/at most 20/] })
  expect(mediaOf(images(10, 4_000_000)).blocks.length).toBe(4)
})
