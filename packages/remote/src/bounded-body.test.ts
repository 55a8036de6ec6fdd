import fc from 'fast-check'
import { expect, it } from 'vitest'
import { atMost, BodyRefusedError, wholeLines } from './bounded-body.ts'

async function* from(chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

async function collect(source: AsyncIterable<Buffer>): Promise<string[]> {
  const chunks: string[] = []
  for await (const chunk of source) chunks.push(chunk.toString())
  return chunks
}

const chunks = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r') }))

const endedByLf = (text: string): string => text.replaceAll(/\r\n?/g, '\n')

it('a bounded body returns the same lines, cut behind line ends only', async () => {
  await fc.assert(
    fc.asyncProperty(chunks, async (given) => {
      const out = await collect(wholeLines(from(given)))
      expect(out.join('')).toBe(endedByLf(given.join('')))
      for (const chunk of out.slice(0, -1)) expect(chunk.endsWith('\n')).toBe(true)
    }),
  )
})

it('a bounded body passes a line on as soon as it is complete', async () => {
  const lines = wholeLines(from(['a\nb', 'c\n', 'd']))
  expect((await lines.next()).value?.toString()).toBe('a\n')
})

it('a bounded body passes an event on at once, also when its lines end with CR alone', async () => {
  for (const end of ['\n', '\r', '\r\n']) {
    const events = wholeLines(from([`data: a${end}${end}`, `data: b${end}${end}`]))
    expect((await events.next()).value?.toString()).toBe('data: a\n\n')
  }
  const many = 'data: a\r\r'.repeat(100)
  expect((await collect(wholeLines(from([many]), 20))).join('')).toBe('data: a\n\n'.repeat(100))
})

it('the limits of a bounded body are exact', async () => {
  expect(await collect(atMost(from(['abc', 'd']), 4))).toEqual(['abc', 'd'])
  await expect(collect(atMost(from(['abc', 'de']), 4))).rejects.toBeInstanceOf(BodyRefusedError)
  expect(await collect(wholeLines(from(['abc\n']), 4))).toEqual(['abc\n'])
  await expect(collect(wholeLines(from(['ab', 'cde']), 4))).rejects.toBeInstanceOf(BodyRefusedError)
})

it('the lines of one event count together in a bounded body, and those of several do not', async () => {
  for (const blank of ['\n', '\r\n']) {
    const events = `a\nb\n${blank}`.repeat(3)
    for (const pieces of [[events], events.split('')]) {
      expect((await collect(wholeLines(from(pieces), 6))).join('')).toBe(endedByLf(events))
      await expect(collect(wholeLines(from([`a\n`, ...pieces]), 6 - 2 + blank.length))).rejects.toBeInstanceOf(
        BodyRefusedError,
      )
    }
  }
})

it('a bounded body passes a stream without a limit on its events when each fits, however it is cut', async () => {
  const event = fc.array(fc.constantFrom('', 'a', 'bc', '\r'), { maxLength: 3 })
  const cuts = fc.array(fc.nat({ max: 200 }))
  await fc.assert(
    fc.asyncProperty(fc.array(event), cuts, async (events, at) => {
      const text = events.map((lines) => `${lines.map((line) => `x${line}\n`).join('')}\n`).join('')
      const places = [0, ...at.filter((place) => place < text.length).toSorted((a, b) => a - b), text.length]
      const pieces = places.slice(1).map((place, i) => text.slice(places[i], place))
      expect((await collect(wholeLines(from(pieces), 13))).join('')).toBe(endedByLf(text))
      await expect(collect(wholeLines(from([...pieces, 'y\n'.repeat(7)]), 13))).rejects.toBeInstanceOf(BodyRefusedError)
    }),
  )
})

const BRACKETS = '['.repeat(2_000)
const COMMAS = ','.repeat(2 ** 21)

it.each([
  ['brackets', `{"a":${BRACKETS}`],
  ['commas', `[${COMMAS}`],
])('an answer and an event that are costly to parse are refused: %s', async (_what, json) => {
  for (const size of [1_000, json.length]) {
    const pieces = Array.from({ length: Math.ceil(json.length / size) }, (_, i) => json.slice(i * size, (i + 1) * size))
    await expect(collect(atMost(from(pieces)))).rejects.toThrow(/^a message with (lists and objects|more than)/)
    await expect(collect(wholeLines(from(['data: ', ...pieces, '\n\n'])))).rejects.toThrow(/^a message with /)
  }
})

it('the cost of one field of an event is not hidden by another', async () => {
  for (const end of ['\n', '\r', '\r\n']) {
    const event = `id: "${end}data: ${BRACKETS}${end}${end}\n`
    await expect(collect(wholeLines(from([event])))).rejects.toBeInstanceOf(BodyRefusedError)
    await expect(collect(wholeLines(from(event.split(''))))).rejects.toBeInstanceOf(BodyRefusedError)
  }
  const spread = `${'data: [\n'.repeat(2_000)}\n`
  await expect(collect(wholeLines(from([spread])))).rejects.toBeInstanceOf(BodyRefusedError)
})

it('brackets in strings, and those of many events, are allowed', async () => {
  const text = JSON.stringify({ text: `${'\\"'.repeat(100)}${BRACKETS}` })
  for (const body of [text, text.split('').join('|')]) {
    const pieces = body === text ? [text] : body.split('|')
    expect((await collect(atMost(from(pieces)))).join('')).toBe(text)
  }
  const events = `data: ${text}\n\ndata: ${'['.repeat(900)}\n\n`.repeat(3)
  expect((await collect(wholeLines(from(events.split(''))))).join('')).toBe(events)
})
