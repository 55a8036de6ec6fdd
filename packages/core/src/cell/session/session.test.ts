import { tmpdir } from 'node:os'
import { expect, it, vi } from 'vitest'
import { FakeSandbox } from '../../../test/support/sandboxes/fake-sandbox.ts'
import { createLog } from '../../util/log.ts'
import type { Provider } from '../../isolation/provider.ts'
import { KernelPool } from './kernel-pool.ts'
import type { CellRequest } from './cell-run.ts'
import { Session } from './session.ts'
import { KeptTexts } from './kept-text.ts'

const logged: string[] = []
const log = createLog('warning', (line) => void logged.push(line))

function open(options: { size?: number; idleTimeoutMs?: number; prepare?: Provider['prepare'] } = {}) {
  const sandboxes: FakeSandbox[] = []
  const provider = {
    name: 'pyodide' as const,
    prepare: options.prepare ?? (async () => {}),
    start: async () => {
      const sandbox = new FakeSandbox().ready()
      sandboxes.push(sandbox)
      return sandbox
    },
  }
  const pool = new KernelPool({
    provider: async () => provider,
    limits: { memoryBytes: 1 },
    size: options.size ?? 0,
    log,
  })
  const texts = new KeptTexts({ memoryBytes: 1024 * 1024, folder: tmpdir() })
  const session = new Session({ pool, texts, log, idleTimeoutMs: options.idleTimeoutMs ?? 60_000 })
  return { sandboxes, pool, session }
}

const request = (extra: Partial<CellRequest> = {}): CellRequest => ({
  code: 'x',
  servers: [],
  timeoutMs: 10_000,
  onCall: async () => null,
  ...extra,
})

const done = (cell: number, extra = {}) => ({ type: 'done', cell, status: 'ok', ...extra })

/** Waits for the session's first sandbox, and for the cell to reach it. */
async function started(sandboxes: FakeSandbox[], index = 0): Promise<FakeSandbox> {
  await expect.poll(() => sandboxes.length).toBeGreaterThan(index)
  await sandboxes[index]!.received('run')
  return sandboxes[index]!
}

it('a session that is closed while a cell waits for its sandbox leaves no sandbox behind', async () => {
  let ready: (() => void) | undefined
  const { sandboxes, session } = open({ prepare: () => new Promise((resolve) => (ready = resolve)) })
  const waiting = session.run(request())
  await expect.poll(() => ready).toBeDefined()
  await session.close()
  ready!()
  await expect(waiting).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  expect(sandboxes.map(({ disposed }) => disposed)).toEqual([true])
})

it('a session runs cells one after the other in one kernel', async () => {
  const { sandboxes, session } = open()
  const first = session.run(request())
  const second = session.run(request())
  const sandbox = await started(sandboxes)
  sandbox.send(done(1))
  expect((await first).status).toBe('ok')
  expect((await sandbox.received('run'))['cell']).toBe(2)
  sandbox.send(done(2))
  await second
  expect(sandboxes).toHaveLength(1)
})

it('a session does not count a cell that is run aside, and keeps its notices for the next cell', async () => {
  const { sandboxes, session } = open()
  session.tellOnce('A server was added.')
  expect((await session.run(request({ aside: true }))).notes).toEqual([])
  const first = session.run(request())
  const sandbox = sandboxes[0]!
  expect((await sandbox.received('run'))['cell']).toBe(1)
  sandbox.send(done(1))
  expect((await first).notes).toEqual(['A server was added.'])
})

it('a session refuses more than sixteen cells at once', async () => {
  const { session } = open()
  for (let count = 0; count < 16; count += 1) void session.run(request()).catch(() => {})
  await expect(session.run(request())).rejects.toMatchObject({ code: 'SESSION_LIMIT' })
  await session.close()
})

it('a session interrupts a cell at the time limit, and keeps the kernel when the cell stops', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request({ timeoutMs: 30 }))
  const sandbox = await started(sandboxes)
  await expect.poll(() => sandbox.interrupts).toBe(1)
  sandbox.send(done(1, { status: 'interrupted' }))
  expect(await run).toMatchObject({ status: 'timeout', stateLost: false })
  expect(sandbox.disposed).toBe(false)
})

it('a cell that had ended before its time limit counts as ended, while its variables were still being sent', async () => {
  const { sandboxes, session } = open()
  const result = session.run(request({ timeoutMs: 30 }))
  const sandbox = await started(sandboxes)
  await expect.poll(() => sandbox.interrupts).toBe(1)
  const value = { 'text/plain': '1' }
  sandbox.send(done(1, { value, uninterrupted: true }))
  expect(await result).toMatchObject({ status: 'ok', value, stateLost: false })
})

it('a session ends a kernel that does not stop, reports the lost state, and continues with a fresh one', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request({ timeoutMs: 30 }))
  const sandbox = await started(sandboxes)
  expect(await run).toMatchObject({ status: 'timeout', stateLost: true })
  expect(sandbox.disposed).toBe(true)
  const next = session.run(request())
  ;(await started(sandboxes, 1)).send(done(2))
  expect((await next).status).toBe('ok')
})

it('a session keeps the kernel of an interrupted cell if the machine stands still before the cell stops', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request({ timeoutMs: 30 }))
  const sandbox = await started(sandboxes)
  await expect.poll(() => sandbox.interrupts).toBe(1)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_100)
  setTimeout(() => sandbox.send(done(1, { status: 'interrupted' })), 20)
  expect(await run).toMatchObject({ status: 'timeout', stateLost: false })
  expect(sandbox.disposed).toBe(false)
})

it('a session interrupts a cell when the client cancels', async () => {
  const { sandboxes, session } = open()
  const client = new AbortController()
  const run = session.run(request({ signal: client.signal }))
  const sandbox = await started(sandboxes)
  client.abort()
  expect(sandbox.interrupts).toBe(1)
  sandbox.send(done(1, { status: 'interrupted' }))
  expect((await run).status).toBe('interrupted')
})

it('a session never starts a cell that was cancelled while it waited', async () => {
  const { sandboxes, session } = open()
  const client = new AbortController()
  const first = session.run(request())
  const second = session.run(request({ signal: client.signal }))
  client.abort()
  const sandbox = await started(sandboxes)
  sandbox.send(done(1))
  await first
  expect(await second).toMatchObject({ status: 'interrupted', durationMs: 0 })
})

it('a session reports with the next cell that the kernel died between two cells', async () => {
  const { sandboxes, session } = open()
  const first = session.run(request())
  ;(await started(sandboxes)).send(done(1))
  await first
  sandboxes[0]!.end({ reason: 'out-of-memory' })
  await new Promise((resolve) => setTimeout(resolve))
  const second = session.run(request())
  ;(await started(sandboxes, 1)).send(done(2))
  expect((await second).notes.join()).toMatch(/out of memory.*variables of earlier cells are gone/)
})

it('a session ends an idle kernel and reports it with the next cell', async () => {
  const { sandboxes, session } = open({ idleTimeoutMs: 20 })
  const first = session.run(request())
  ;(await started(sandboxes)).send(done(1))
  await first
  await expect.poll(() => sandboxes[0]!.disposed).toBe(true)
  const second = session.run(request())
  ;(await started(sandboxes, 1)).send(done(2))
  expect((await second).notes.join()).toMatch(/idle.*variables of earlier cells are gone/)
})

it('a session continues to number cells after a new kernel, so that a number means one output', async () => {
  const { sandboxes, session } = open()
  const first = session.run(request())
  ;(await started(sandboxes)).send(done(1))
  expect((await first).cell).toBe(1)
  sandboxes[0]!.end()
  const second = session.run(request())
  await expect.poll(() => sandboxes.length).toBe(2)
  expect(await sandboxes[1]!.received('run')).toMatchObject({ cell: 2 })
  sandboxes[1]!.send(done(2))
  expect((await second).cell).toBe(2)
})

it('a session keeps a bounded number and size of displays', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request())
  const sandbox = await started(sandboxes)
  const display = (text: string) => ({ type: 'display', cell: 1, data: { 'text/plain': text } })
  sandbox.send(display('x'.repeat(20_000_000)), display('y'.repeat(20_000_000)), display('small'), done(1))
  const { displays, notes } = await run
  expect(displays.length).toBe(2)
  expect(notes).toEqual([
    '1 displayed value was dropped: a cell can display 100, of 32 MiB together. Use `print` for many texts.',
  ])
})

it('a session replaces displays, and drops what a cell takes back', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request())
  const sandbox = await started(sandboxes)
  const print = (text: string) => ({ type: 'output', cell: 1, stream: 'stdout', text })
  const display = (text: string, id?: string) => ({
    type: 'display',
    cell: 1,
    data: { 'text/plain': text },
    ...(id && { id }),
  })
  const clear = (wait: boolean) => ({ type: 'clear', cell: 1, wait })
  sandbox.send(print('gone'), display('gone'), clear(false), print('gone too'), clear(true), print('a'))
  sandbox.send(display('1', 'x'), print('b'), display('plain'), display('2', 'x'), print('c'), clear(true), done(1))
  const { stdout, displays, displayedAt } = await run
  expect([stdout, displays, displayedAt]).toEqual(['abc', [{ 'text/plain': '2' }, { 'text/plain': 'plain' }], [1, 2]])
})

it('a session says how many displays a cell can have', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request())
  const sandbox = await started(sandboxes)
  const display = (text: string) => ({ type: 'display', cell: 1, data: { 'text/plain': text } })
  sandbox.send(...Array.from({ length: 101 }, (_, index) => display(`${index}`)), done(1))
  const { displays, notes } = await run
  expect(displays.length).toBe(100)
  expect(notes).toEqual([expect.stringMatching(/^1 displayed value was dropped: a cell can display 100,/)])
})

it('a session says where the time went when a cell is interrupted', async () => {
  const { sandboxes, session } = open()
  const cancel = new AbortController()
  const onCall = () => {
    cancel.abort()
    return new Promise(() => {})
  }
  const run = session.run(request({ signal: cancel.signal, onCall }))
  const sandbox = await started(sandboxes)
  sandbox.send({ type: 'call', id: 1, cell: 1, method: 'call_tool', params: { server: 'github', tool: 'search' } })
  await expect.poll(() => sandbox.interrupts).toBe(1)
  // The kernel cancels its calls when it is interrupted.
  sandbox.send({ type: 'cancel', id: 1 }, done(1, { status: 'interrupted' }))
  expect((await run).notes).toEqual([
    expect.stringMatching(/^Time in tool calls: github\.search [\d.]+ s, still running\.$/),
  ])
})

it('a session keeps the ends of an output flood and says what is missing', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request())
  const sandbox = await started(sandboxes)
  const frame = (text: string) => ({ type: 'output', cell: 1, stream: 'stdout', text })
  sandbox.send(frame('BEGIN'), ...Array.from({ length: 200 }, () => frame('x'.repeat(100_000))), frame('END'), done(1))
  const { stdout } = await run
  expect(stdout.length).toBeLessThan(7_000_000)
  expect(stdout).toMatch(/^BEGINx+\n\.\.\. [\d,]+ bytes are not kept \.\.\.\nx+END$/)
})

it('a sandbox that dies under a cell is reported in words, and the stderr of its processes goes to the log', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request())
  const sandbox = await started(sandboxes)
  sandbox.end({ reason: 'killed', code: 137, detail: 'last words\nof a process' })
  const result = await run
  expect(result).toMatchObject({ status: 'killed', stateLost: true })
  expect(JSON.stringify(result)).not.toContain('last words')
  expect(logged.filter((line) => line.includes('last words'))).toEqual([
    expect.stringMatching(/ warning A sandbox ended reason="killed" .* detail="last words\\nof a process"\n$/),
  ])
  await session.close()
})

it('a sandbox that sends invalid frames is reported with their number and the reason', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request())
  const sandbox = await started(sandboxes)
  sandbox.send('nonsense', done(1))
  expect((await run).notes).toEqual(['1 malformed frame came from this sandbox and was dropped: not JSON.'])
  const second = session.run(request())
  await sandbox.received('run')
  sandbox.send('nonsense', '{"type":"x"}', done(2))
  expect((await second).notes).toEqual([
    expect.stringMatching(/^2 malformed frames came from this sandbox and were dropped, the last one: type: /),
  ])
  await session.close()
})

it('a sandbox that is ended for invalid frames after its cell makes the next cell report that the variables are gone', async () => {
  const { sandboxes, session } = open()
  const run = session.run(request())
  const sandbox = await started(sandboxes)
  sandbox.send(done(1))
  expect(await run).toMatchObject({ status: 'ok', stateLost: false, notes: [] })
  sandbox.send(...Array.from({ length: 100 }, () => 'nonsense'))
  await expect.poll(() => sandbox.disposed).toBe(true)
  const second = session.run(request())
  await expect.poll(() => sandboxes).toHaveLength(2)
  sandboxes[1]!.send(done(2))
  expect((await second).notes).toEqual([
    expect.stringMatching(
      /had ended \(the bridge stopped it after 100 malformed frames, .*not JSON\): variables .* gone/,
    ),
  ])
  await session.close()
})

it('a session that waits for its sandbox tells all of its cells why, and does not run a cell that was cancelled meanwhile', async () => {
  let finish!: () => void
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const { sandboxes, session, pool } = open({
    prepare: async (onProgress) => {
      onProgress?.('pulling')
      await finished
    },
  })
  const heard: string[] = []
  const cancelled = new AbortController()
  const first = session.run(
    request({
      code: 'cancelled',
      signal: cancelled.signal,
      listeners: { onPreparing: (message) => heard.push(message) },
    }),
  )
  await expect.poll(() => heard).toEqual(['pulling'])
  const queued: string[] = []
  const second = session.run(request({ code: 'next', listeners: { onPreparing: (message) => queued.push(message) } }))
  expect(queued).toEqual(['pulling'])
  cancelled.abort()
  finish()
  expect(await first).toMatchObject({ status: 'interrupted', stateLost: false })
  // The next cell gets the kernel that the cancelled one waited for.
  const sandbox = sandboxes[0]!
  expect((await sandbox.received('run'))['code']).toBe('next')
  sandbox.send(done(1))
  expect((await second).status).toBe('ok')
  await session.close()
  await pool.close()
})

it('the pool hands out each kernel once and refills', async () => {
  const { sandboxes, pool } = open({ size: 1 })
  pool.warm()
  const first = await pool.take()
  const second = await pool.take()
  expect(first.sandbox).not.toBe(second.sandbox)
  await expect.poll(() => sandboxes).toHaveLength(3)
  await pool.close()
  expect(sandboxes[2]!.disposed).toBe(true)
})

it('the pool replaces a waiting kernel that died', async () => {
  const { sandboxes, pool } = open({ size: 1 })
  pool.warm()
  await expect.poll(() => sandboxes).toHaveLength(1)
  sandboxes[0]!.end()
  await new Promise((resolve) => setTimeout(resolve))
  expect((await pool.take()).sandbox).toBe(sandboxes[1])
  await pool.close()
})

it('the pool tells everyone who waits what is prepared first, also those who join later', async () => {
  let say!: (message: string) => void
  let finish!: () => void
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const { pool } = open({
    prepare: async (onProgress) => {
      say = onProgress!
      await finished
    },
  })
  const [early, late]: [string[], string[]] = [[], []]
  pool.onPreparing((message) => early.push(message))
  const taking = [pool.take()]
  await vi.waitFor(() => say('pulling'), 50_000)
  const stop = pool.onPreparing((message) => late.push(message))
  taking.push(pool.take())
  say('unpacking')
  stop()
  say('starting')
  finish()
  await Promise.all(taking)
  pool.onPreparing((message) => late.push(message))
  expect([early, late]).toEqual([
    ['pulling', 'unpacking', 'starting'],
    ['pulling', 'unpacking'],
  ])
  await pool.close()
})
