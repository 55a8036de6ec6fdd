// This file verifies how the bridge reads from a kept sandbox: no call is passed on before it is acknowledged, and a
// wrong number, a flood or a forged word ends the connection.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { parseHello } from './hello.ts'
import { NumberedLines } from './numbered-lines.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

function hello(words: Record<string, string> = {}): string {
  const all = {
    version: '3',
    generation: '1',
    attempt: '1',
    got: '4',
    there: '1',
    busy: '0',
    cell: '3',
    running: '1',
    pending: '1',
    late: '0',
    dropped: '0',
    deadline: '5',
  }
  const whole = { ...all, digest: '-', open: '7,9', ...words }
  return ['hello', ...Object.entries(whole).map(([name, value]) => `${name}=${value}`)].join(' ')
}

/** Both ends of a connection: the bridge's, and that of a process in the sandbox. */
async function connection(): Promise<{ ours: Socket; theirs: Socket }> {
  needsPosix('sockets that are files')
  const file = path.join(newFolder(), 'socket')
  const server = createServer().listen(file)
  await once(server, 'listening')
  const theirs = connect(file)
  const [ours] = (await once(server, 'connection')) as [Socket]
  server.close()
  for (const end of [ours, theirs]) end.on('error', () => {})
  onTestFinished(() => void [ours, theirs].map((end) => end.destroy()))
  return { ours, theirs }
}

async function numbered() {
  const { ours, theirs } = await connection()
  const faults: string[] = []
  const received: string[] = []
  let sent = 0
  const lines: NumberedLines = new NumberedLines({
    onHello: ({ attempt }) => attempt === 1,
    onGot: () => {},
    acknowledge: (frame, how) => {
      ours.write(`ack ${frame}${how === 'confirmed' ? ' confirm' : ''}\n`)
      return (sent += 1)
    },
    onFault: (reason) => {
      faults.push(reason)
      ours.destroy()
    },
  })
  lines.readFrom(ours)
  theirs.write(`the end of another line\n1 {"not":"ours"}\n${hello({ attempt: '7' })}\n9 {}\n${hello()}\n`)
  const frames: string[] = []
  theirs.on('data', (chunk) => received.push(chunk.toString()))
  const read = () => void lines.frames.on('data', (chunk: Buffer) => frames.push(chunk.toString()))
  return { ours, theirs, lines, faults, frames, received: () => received.join(''), read }
}

it('the hello of a kept sandbox names its cell and its open calls', () => {
  expect(parseHello(hello())).toMatchObject({ number: 3, isRunning: true, isPending: true, openCalls: [7, 9] })
  expect(parseHello(hello({ open: '-' }))).toMatchObject({ openCalls: [] })
})

it.each([
  ['another version', { version: '2' }],
  ['a number that is none', { cell: '-1' }],
  ['a number that is too long', { deadline: '1'.repeat(16) }],
  ['a digest of another form', { digest: 'x' }],
  ['a call without an id', { open: '1,,2' }],
  ['more calls than there can be', { open: Array.from({ length: 10_001 }, (_, id) => id + 1).join(',') }],
])('the hello of a kept sandbox is refused with %s', (_what, words) => {
  expect(parseHello(hello(words))).toBeUndefined()
})

it('a call among numbered frames is passed on once its acknowledgement is known to have arrived, other frames at once', async () => {
  const { theirs, frames, received, read } = await numbered()
  read()
  theirs.write('1 {"type":"output"}\n')
  await until(() => frames.length === 1)
  theirs.write('2 {"type":"call"}\n')
  await until(() => received() === 'ack 1\nack 2 confirm\n')
  theirs.write('3 {"type":"output"}\ngot 1\n')
  await until(() => received().endsWith('ack 3\n'))
  expect(frames).toHaveLength(1)
  theirs.write('got 2\n')
  await until(() => frames.join('') === '{"type":"output"}\n{"type":"call"}\n{"type":"output"}\n')
})

it('a call among numbered frames that the sandbox counts as made is passed on at once', async () => {
  const { theirs, frames, received, read } = await numbered()
  read()
  theirs.write('2! {"type":"call"}\n')
  await until(() => frames.join('') === '{"type":"call"}\n' && received() === 'ack 2\n')
})

it('numbered frames are passed on and acknowledged', async () => {
  const { theirs, frames, received, read, faults } = await numbered()
  read()
  theirs.write('0 {"type":"ready"}\n1 {"a":1}\n2 {"b":2}\n')
  await until(() => frames.length > 0)
  expect(frames.join('')).toBe('{"type":"ready"}\n{"a":1}\n{"b":2}\n')
  await until(() => received() === 'ack 2\n')
  theirs.write('5 {"c":3}\nend 86\n')
  await until(() => received() === 'ack 2\nack 5\n')
  expect(faults).toEqual([])
})

it.each([
  ['a number that came already', '1 {}\n2 {}\n2 {"again":1}\n', /frame 2 after frame 2/],
  ['a smaller number', '7 {}\n3 {}\n', /frame 3 after frame 7/],
  ['no number', '{"type":"call"}\n', /a line without a number/],
  ['a word that no sandbox says', 'ack 99\n', /a line without a number/],
  ['a hello that is invalid', 'hello version=3\n', /an invalid hello/],
  ['a number that is too large', `${'9'.repeat(17)} {}\n`, /a line without a number/],
])('numbered frames end with %s, and nothing of that batch is passed on', async (_what, text, reason) => {
  const { theirs, faults, frames, read } = await numbered()
  read()
  theirs.write(text)
  await until(() => faults.length > 0)
  await nextTurn()
  expect(faults).toHaveLength(1)
  expect(faults[0]).toMatch(reason)
  expect(frames).toEqual([])
})

it('numbered frames wait in the sandbox when it sends and reads nothing', async () => {
  const { ours, theirs, lines, read, frames } = await numbered()
  const line = (number: number) => `${number} ${'x'.repeat(10_000)}\n`
  let sent = 0
  // Until the system accepts no more.
  while (theirs.write(line((sent += 1)))) await nextTurn()
  await until(async () => {
    await nextTurn()
    return ours.isPaused()
  })
  // Unread data is limited by the stream's buffer.
  expect(lines.frames.readableLength).toBeLessThan(2 << 20)
  for (let more = 0; more < 2_000; more += 1) theirs.write(line((sent += 1)))
  await nextTurn()
  expect(lines.frames.readableLength).toBeLessThan(2 << 20)
  read()
  await until(() => frames.reduce((sum, { length }) => sum + length, 0) === sent * 10_001)
})
