import crypto from 'node:crypto'
import zlib from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { fillGaps } from './fill-gaps.ts'

const DATA = Buffer.from('the quick brown fox \u00E9')

it('functions that a version of Node lacks return what those of other versions return', () => {
  const own = Object.getOwnPropertyDescriptor(process, 'getBuiltinModule')!
  const lacking = {
    crypto: { ...crypto, hash: undefined as unknown as typeof crypto.hash },
    util: { styleText: undefined as unknown as (style: string, text: string) => string },
    zlib: { crc32: undefined as unknown as typeof zlib.crc32 },
  }
  onTestFinished(() => void Object.defineProperty(process, 'getBuiltinModule', own))
  fillGaps((name) => lacking[name as keyof typeof lacking])
  for (const encoding of [undefined, 'hex', 'base64'] as const)
    expect(lacking.crypto.hash('sha256', DATA, encoding)).toBe(crypto.hash('sha256', DATA, encoding))
  for (const data of [DATA, DATA.toString(), '']) expect(lacking.zlib.crc32(data, 7)).toBe(zlib.crc32(data, 7))
  expect(lacking.util.styleText('red', 'text')).toBe('text')
})
