import { expect, it } from 'vitest'
import { fromBase64, Uploads } from './uploads.ts'

const bytes = (text: string) => Buffer.from(text)
const asText = async (data: Buffer) => data.toString()

it('an upload puts pieces together, in order, and is then finished', async () => {
  const uploads = new Uploads(10)
  const first = uploads.add(undefined, bytes('ab'))
  const second = uploads.add(undefined, bytes('x'))
  uploads.add(first, bytes('cd'))
  uploads.add(first, bytes('e'))
  expect(await uploads.take(first, asText)).toBe('abcde')
  expect(await uploads.take(second, asText)).toBe('x')
  await expect(uploads.take(first, asText)).rejects.toThrow(/Unknown upload/)
  expect(() => uploads.add(first, bytes('e'))).toThrow(/Unknown upload/)
})

it('an upload is limited in size', async () => {
  const uploads = new Uploads(3)
  const upload = uploads.add(undefined, bytes('abc'))
  expect(() => uploads.add(upload, bytes('d'))).toThrow(expect.objectContaining({ code: 'STATE_REFUSED' }))
  await expect(uploads.take(upload, asText)).rejects.toThrow(/Unknown upload/)
  for (let count = 0; count < 8; count += 1) uploads.add(undefined, bytes(''))
  expect(() => uploads.add(undefined, bytes('a'))).toThrow(/at once/)
})

it('all uploads together are limited in size, with those that are being saved', async () => {
  const uploads = new Uploads(3)
  const [first, second] = [uploads.add(undefined, bytes('ab')), uploads.add(undefined, bytes('c'))]
  expect(() => uploads.add(second, bytes('d'))).toThrow(/that are being saved exceed/)
  const third = uploads.add(undefined, bytes('d'))
  let finish = (): void => {}
  const saving = uploads.take(first, () => new Promise<void>((resolve) => (finish = resolve)))
  expect(() => uploads.add(third, bytes('e'))).toThrow(/that are being saved exceed/)
  finish()
  await saving
  expect(uploads.add(undefined, bytes('abc'))).toBe(4)
})

it('many equals signs are no base64', () => {
  expect(() => fromBase64(`${'='.repeat(1_000_000)}A`)).toThrow('must be base64')
  for (const wrong of ['A===', 'AAA', 'AAEC=', '!AAA']) expect(() => fromBase64(wrong)).toThrow('must be base64')
  expect(['AAEC', 'AAE=', 'AA==', ''].map((text) => fromBase64(text).length)).toEqual([3, 2, 1, 0])
})
