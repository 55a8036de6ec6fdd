import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { encodeFrame, FrameDecoder } from './codec.ts'
import type { KernelFrame } from './frames.ts'
import { anyCharacter } from '../../../test/support/suite/any-character.ts'

const fixtures = JSON.parse(readFileSync(new URL('../../../test/fixtures/frames.json', import.meta.url), 'utf8')) as {
  valid: Record<string, Record<string, unknown>[]>
  invalid: { why: string; line: string }[]
}
const FROM_KERNEL = ['ready', 'output', 'display', 'call', 'cancel', 'progress', 'done']

function decode(chunks: Buffer[], maxBytes?: number) {
  const frames: KernelFrame[] = []
  const malformed: string[] = []
  const decoder = new FrameDecoder({
    onFrame: (frame) => frames.push(frame),
    onMalformed: (reason) => malformed.push(reason),
    ...(maxBytes && { maxBytes }),
  })
  for (const chunk of chunks) decoder.push(chunk)
  return { frames, malformed }
}

const line = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`)

it('the golden frames have every type that a kernel sends', () => {
  expect(Object.keys(fixtures.valid)).toEqual(expect.arrayContaining(FROM_KERNEL))
})

it.each(FROM_KERNEL)('the decoder reads %s', (type) => {
  const golden = fixtures.valid[type]!
  expect(golden.length).toBeGreaterThan(0)
  const { frames, malformed } = decode(golden.map(line))
  expect(malformed).toEqual([])
  expect(frames).toEqual(golden)
})

it.each(fixtures.invalid)('the decoder drops a line that is $why, and reads on', ({ line: text }) => {
  const { frames, malformed } = decode([Buffer.from(`${text}\n`), line({ type: 'cancel', id: 1 })])
  expect(malformed).toHaveLength(1)
  expect(frames).toEqual([{ type: 'cancel', id: 1 }])
})

it('golden frames are the examples of docs/protocol.md', () => {
  const page = readFileSync(new URL('../../../../../docs/protocol.md', import.meta.url), 'utf8')
  const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(
    (match) => JSON.parse(match[1]!) as { type: string },
  )
  expect(examples.length).toBeGreaterThan(8)
  for (const example of examples) expect(fixtures.valid[example.type]).toContainEqual(example)
})

it('the decoder returns the same frames however the bytes are chunked', () => {
  const output = fc.record({
    type: fc.constant('output' as const),
    cell: fc.integer({ min: 1, max: 1e9 }),
    stream: fc.constantFrom('stdout' as const, 'stderr' as const),
    text: fc.string({ unit: anyCharacter }),
  })
  fc.assert(
    fc.property(fc.array(output, { maxLength: 10 }), fc.array(fc.integer({ min: 1, max: 50 })), (sent, sizes) => {
      const bytes = Buffer.concat(sent.map(line))
      const chunks: Buffer[] = []
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = sizes.length > 0 ? sizes[turn % sizes.length]! : bytes.length
        chunks.push(bytes.subarray(at, at + size))
        at += size
      }
      const { frames, malformed } = decode(chunks)
      expect(malformed).toEqual([])
      expect(frames).toEqual(sent)
    }),
  )
})

it('the decoder keeps U+2028 inside a frame', () => {
  const frame = { type: 'output', cell: 1, stream: 'stdout', text: 'a\u2028b' }
  expect(decode([line(frame)]).frames).toEqual([frame])
})

it('the decoder drops an overlong line without keeping it, and reads on', () => {
  const long = Buffer.alloc(1_000, 'x')
  const { frames, malformed } = decode([long, long, Buffer.from('\n'), line({ type: 'cancel', id: 2 })], 1_500)
  expect(malformed).toEqual(['longer than 1500 bytes'])
  expect(frames).toEqual([{ type: 'cancel', id: 2 }])
})

it('the decoder refuses a costly line before it parses it', () => {
  const hostile = [
    `{"type":"x","a":[${'{},'.repeat(700_000)}1]}\n`,
    `${'['.repeat(3_000_000)}\n`,
    ...['1.0', '1e+22', '1234567890123456', '{"1":1}'].map(
      (slow) => `{"a":[${`${slow},`.repeat(200_000)}1,${'[],'.repeat(30_000)}1]}\n`,
    ),
  ].map((text) => Buffer.from(text))
  const cancel = line({ type: 'cancel', id: 3 })
  const parse = vi.spyOn(JSON, 'parse')
  const { frames, malformed } = decode([...hostile, cancel])
  const parsed = parse.mock.calls.map(([text]) => text.length)
  parse.mockRestore()
  expect(malformed).toEqual([
    expect.stringMatching(/^more than 1048576 of/),
    'lists and objects nested more than 1000 deep',
    ...Array.from({ length: 4 }, (): unknown => expect.stringMatching(/^more than 262144 of .* such as 3\.0$/)),
  ])
  expect(frames).toEqual([{ type: 'cancel', id: 3 }])
  expect(parsed).toEqual([cancel.length - 1])
})

it('the decoder accepts a frame of a million numbers', () => {
  const params = Array.from({ length: 1_000_000 }, (_, index) => index / 1e7)
  const call = { type: 'call', id: 1, cell: 1, method: 'call_tool', params }
  const { frames, malformed } = decode([line(call)])
  expect(malformed).toEqual([])
  expect((frames[0] as { params: number[] }).params).toHaveLength(1_000_000)
})

it('the decoder refuses a display with too many types', () => {
  const bundle = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`type/${index}`, 'x']))
  const { frames, malformed } = decode(
    [100, 101].map((count) => line({ type: 'display', cell: 1, data: bundle(count) })),
  )
  expect(frames).toHaveLength(1)
  expect(malformed).toEqual(['data: more than 100 MIME types'])
})

it('the decoder reads nothing more once it was stopped, in whichever line of a chunk', () => {
  let count = 0
  const decoder = new FrameDecoder({
    onFrame: () => {},
    onMalformed: () => {
      count += 1
      if (count === 2) decoder.stop()
    },
  })
  decoder.push(Buffer.from('{}\n'.repeat(20_000)))
  decoder.push(Buffer.from('{}\n'))
  expect(count).toBe(2)
})

it('the decoder lets no frame reach a prototype', () => {
  const text = '{"type":"display","cell":1,"data":{"__proto__":{"polluted":1},"text/plain":"x"}}\n'
  const [frame] = decode([Buffer.from(text)]).frames
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  const { data } = frame as { data: Record<string, unknown> }
  expect(data['polluted']).toBeUndefined()
})

it('encodeFrame writes one line', () => {
  const bytes = encodeFrame({ type: 'reply', id: 1, value: 'a\nb' })
  expect(bytes.toString()).toBe('{"type":"reply","id":1,"value":"a\\nb"}\n')
})

it('encodeFrame never writes the interrupt byte', () => {
  expect(encodeFrame({ type: 'reply', id: 1, value: '\u0003' }).includes('\u0003')).toBe(false)
})

it('encodeFrame refuses a frame that is too long, and names both sizes', () => {
  expect(() => encodeFrame({ type: 'reply', id: 1, value: 'x'.repeat(100) }, 50)).toThrow(/135 bytes.*the limit is 50/)
})

it('a line that is dropped in the middle of a character leaves nothing to the next line', () => {
  const [first, second] = [Buffer.from('{"a":"é'), line({ type: 'cancel', id: 1 })]
  const { frames, malformed } = decode(
    [first.subarray(0, -1), Buffer.from('x'.repeat(100)), Buffer.from('\n'), second],
    99,
  )
  expect([malformed, frames]).toEqual([['longer than 99 bytes'], [{ type: 'cancel', id: 1 }]])
})
