import { expect, it } from 'vitest'
import { inlineImage } from './inline-image.ts'

const png = { data: Buffer.from('a picture').toString('base64'), mimeType: 'image/png' }
const ESC = '\x1b'

it('is written in the way of the terminal', () => {
  expect(inlineImage(png, { TERM: 'xterm-kitty' })).toBe(`${ESC}_Ga=T,f=100,m=0;${png.data}${ESC}\\\n`)
  expect(inlineImage(png, { TERM_PROGRAM: 'iTerm.app' })).toBe(`${ESC}]1337;File=inline=1;size=9:${png.data}\x07\n`)
})

it('comes in pieces to kitty when it is long', () => {
  const long = inlineImage({ ...png, data: 'A'.repeat(10_000) }, { KITTY_WINDOW_ID: '1' })!
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
])('is not written where it would not show: %j, %s', (env, mimeType) => {
  expect(inlineImage({ ...png, mimeType }, env)).toBeUndefined()
})
