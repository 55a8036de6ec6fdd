import fc from 'fast-check'
import { expect, test } from 'vitest'
import { atMost, BodyTooLongError, wholeLines } from './bounded-body.ts'

async function* from(chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

async function collect(source: AsyncIterable<Buffer>): Promise<string[]> {
  const chunks: string[] = []
  for await (const chunk of source) chunks.push(chunk.toString())
  return chunks
}

const chunks = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r') }))

test('the same bytes come out, cut behind line ends only', async () => {
  await fc.assert(
    fc.asyncProperty(chunks, async (given) => {
      const out = await collect(wholeLines(from(given)))
      expect(out.join('')).toBe(given.join(''))
      for (const chunk of out.slice(0, -1)) expect(chunk.endsWith('\n')).toBe(true)
    }),
  )
})

test('a line is handed on as soon as it is whole', async () => {
  const lines = wholeLines(from(['a\nb', 'c\n', 'd']))
  expect((await lines.next()).value?.toString()).toBe('a\n')
})

test('limits are exact', async () => {
  expect(await collect(atMost(from(['abc', 'd']), 4))).toEqual(['abc', 'd'])
  await expect(collect(atMost(from(['abc', 'de']), 4))).rejects.toBeInstanceOf(BodyTooLongError)
  expect(await collect(wholeLines(from(['abcd\nabcd\n']), 4))).toEqual(['abcd\nabcd\n'])
  await expect(collect(wholeLines(from(['ab', 'cde']), 4))).rejects.toBeInstanceOf(BodyTooLongError)
})
