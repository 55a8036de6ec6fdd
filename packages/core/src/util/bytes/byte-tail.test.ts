import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createByteTail } from './byte-tail.ts'

it('a byte tail keeps exactly the last bytes of what was written', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 40 }).map((text) => text.replace(/[^ -~]/g, '.'))), (chunks) => {
      const tail = createByteTail(50)
      for (const chunk of chunks) tail.push(Buffer.from(chunk))
      expect(tail.text()).toBe(chunks.join('').slice(-50))
    }),
  )
})

it('a byte tail stays exact over thousands of tiny chunks', () => {
  const tail = createByteTail(1000)
  for (let i = 0; i < 5000; i += 1) tail.push(Buffer.from(String(i % 10)))
  expect(tail.text()).toBe('0123456789'.repeat(100))
})
