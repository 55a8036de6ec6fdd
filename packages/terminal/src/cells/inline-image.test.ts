import { PNG } from 'pngjs'
import { decode } from 'sixel'
import { expect, it } from 'vitest'
import { inlineImage } from './inline-image.ts'

const png = { data: Buffer.from('a picture').toString('base64'), mimeType: 'image/png' }
const ESC = '\x1b'
const noSixels = (): Promise<boolean> => Promise.resolve(false)

it('an image is written in the protocol of the terminal', async () => {
  expect(await inlineImage(png, { TERM: 'xterm-kitty' }, noSixels)).toBe(`${ESC}_Ga=T,f=100,m=0;${png.data}${ESC}\\\n`)
  expect(await inlineImage(png, { TERM_PROGRAM: 'iTerm.app' }, noSixels)).toBe(
    `${ESC}]1337;File=inline=1;size=9:${png.data}\x07\n`,
  )
})

it('a long image is sent to kitty in pieces', async () => {
  const long = (await inlineImage({ ...png, data: 'A'.repeat(10_000) }, { KITTY_WINDOW_ID: '1' }, noSixels))!
  const pieces = long.trimEnd().split(`${ESC}\\`).filter(Boolean)
  expect(pieces.map((piece) => piece.slice(0, piece.indexOf(';')))).toEqual([
    `${ESC}_Ga=T,f=100,m=1`,
    `${ESC}_Gm=1`,
    `${ESC}_Gm=0`,
  ])
  expect(pieces.map((piece) => piece.slice(piece.indexOf(';') + 1)).join('')).toBe('A'.repeat(10_000))
})

it.each([
  [{ TERM: 'xterm-256color' }, 'image/png'],
  [{ TERM: 'xterm-kitty', TMUX: '/tmp/tmux' }, 'image/png'],
  [{ TERM: 'xterm-kitty' }, 'image/jpeg'],
])('an image is not written where the terminal would not show it: %j, %s', async (env, mimeType) => {
  expect(await inlineImage({ ...png, mimeType }, env, noSixels)).toBeUndefined()
})

/** Two pixels, red and transparent. */
function twoPixels(): { data: string; mimeType: string } {
  const image = new PNG({ width: 2, height: 1 })
  image.data.set([255, 0, 0, 255, 0, 0, 0, 0])
  return { data: PNG.sync.write(image).toString('base64'), mimeType: 'image/png' }
}

const asSixels = (image: { data: string; mimeType: string }): Promise<string | undefined> =>
  inlineImage(image, { TERM: 'foot' }, () => Promise.resolve(true))

it('an image is written as sixels, on white, where the terminal shows them', async () => {
  const text = (await asSixels(twoPixels()))!
  // From DCS to ST, two pixels wide and one high, red and white.
  expect(text.startsWith(`${ESC}P`) && text.endsWith(`${ESC}\\\n`)).toBe(true)
  expect(text).toContain('"1;1;2;1')
  expect([...text.matchAll(/#\d+;2;(\d+;\d+;\d+)/g)].map(([, colour]) => colour)).toEqual(
    expect.arrayContaining(['100;0;0', '100;100;100']),
  )
})

it('an image written as sixels keeps its look', async () => {
  const size = 60
  const image = new PNG({ width: size, height: size })
  for (let at = 0; at < size * size; at += 1) {
    const [x, y] = [at % size, Math.floor(at / size)]
    image.data.set([x * 4, y * 4, x < y ? 200 : 20, 255], at * 4)
  }
  const text = (await asSixels({ data: PNG.sync.write(image).toString('base64'), mimeType: 'image/png' }))!
  const shown = decode(text)
  const off = Array.from({ length: size * size }, (_, at) => {
    const [x, y] = [at % size, Math.floor(at / size)]
    const pixel = shown.data32[y * shown.width + x]!
    const wanted = image.data.subarray(at * 4, at * 4 + 3)
    return Math.max(...[0, 8, 16].map((shift, channel) => Math.abs(((pixel >> shift) & 255) - wanted[channel]!)))
  })
  // 3,000 colours are reduced to 256, and dithering changes a few dots at the edges.
  expect(off.filter((difference) => difference > 40).length).toBeLessThan((size * size) / 100)
})

it.each([
  ['broken', { ...png }],
  ['interlaced, which unpacks without a bound', withByte(28, 1)],
  ['larger than a terminal can take', withByte(17, 0xff)],
])('an image that is %s is left to its file', async (_, image) => {
  expect(await asSixels(image)).toBeUndefined()
})

function withByte(at: number, value: number): { data: string; mimeType: string } {
  const { data, mimeType } = twoPixels()
  const bytes = Buffer.from(data, 'base64')
  bytes[at] = value
  return { data: bytes.toString('base64'), mimeType }
}
