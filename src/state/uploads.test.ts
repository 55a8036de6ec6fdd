import { expect, it } from 'vitest'
import { Uploads } from './uploads.ts'

const bytes = (text: string) => Buffer.from(text)

it('puts pieces together, in order, and is over then', () => {
  const uploads = new Uploads(10)
  const first = uploads.add(undefined, bytes('ab'))
  const second = uploads.add(undefined, bytes('x'))
  uploads.add(first, bytes('cd'))
  expect(uploads.take(first).toString()).toBe('abcd')
  expect(uploads.take(second).toString()).toBe('x')
  expect(() => uploads.take(first)).toThrow(/no upload/)
  expect(() => uploads.add(first, bytes('e'))).toThrow(/no upload/)
})

it('holds no more than it may', () => {
  const uploads = new Uploads(3)
  const upload = uploads.add(undefined, bytes('abc'))
  expect(() => uploads.add(upload, bytes('d'))).toThrow(expect.objectContaining({ code: 'STATE_REFUSED' }))
  expect(() => uploads.take(upload)).toThrow(/no upload/)
  for (let count = 0; count < 8; count += 1) uploads.add(undefined, bytes('a'))
  expect(() => uploads.add(undefined, bytes('a'))).toThrow(/at once/)
})
