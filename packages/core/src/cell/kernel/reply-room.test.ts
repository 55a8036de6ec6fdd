import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { FakeSandbox } from '../../../test/support/sandboxes/fake-sandbox.ts'
import { Kernel } from './kernel.ts'

const MIB = 1 << 20

/** A ready sandbox that reads nothing more until `read` is called. */
async function attachDeaf() {
  const sandbox = new FakeSandbox().ready()
  const kernel = await Kernel.attach(sandbox)
  const run = (onCall: (id: number) => Promise<unknown>) =>
    kernel.run({
      code: '',
      servers: [],
      observer: { onOutput: () => {}, onDisplay: () => {}, onCall: (call) => onCall(call.id) },
    })
  return { sandbox, run, deafen: () => sandbox.stdin.pause(), read: () => sandbox.stdin.resume() }
}

const call = (id: number, method: string, params: unknown = {}) => ({ type: 'call', id, cell: 1, method, params })
const settle = async () => {
  for (let count = 0; count < 20; count += 1) await turn()
}

describe('answers that a sandbox does not read', () => {
  it('further calls of a sandbox that does not read its answers wait, and start in order once it reads', async () => {
    const { sandbox, run, deafen, read } = await attachDeaf()
    const begun: number[] = []
    const result = run(async (id) => {
      begun.push(id)
      return 'x'.repeat(5 * MIB)
    })
    await sandbox.received('run')
    deafen()
    for (let id = 1; id <= 16; id += 1) sandbox.send(call(id, 'open_artifact'))
    await settle()
    expect(begun.length).toBeGreaterThan(3)
    expect(begun.length).toBeLessThan(12)
    expect(sandbox.stdin.writableLength).toBeLessThan(64 * MIB)
    read()
    for (let id = 1; id <= 16; id += 1) expect((await sandbox.received('reply'))['id']).toBe(id)
    expect(begun).toHaveLength(16)
    sandbox.send({ type: 'done', cell: 1, status: 'ok' })
    expect(await result).toMatchObject({ status: 'ok' })
  })

  it('a sandbox that does not read its answers delays no call of a cell that reads', async () => {
    const { sandbox, run } = await attachDeaf()
    let open = 0
    let finish = (): void => {}
    const all = new Promise<void>((resolve) => (finish = resolve))
    const result = run(async () => {
      open += 1
      if (open === 10_000) finish()
      return all
    })
    await sandbox.received('run')
    for (let id = 1; id <= 10_000; id += 1) sandbox.send(call(id, 'call_tool'))
    for (let id = 1; id <= 10_000; id += 1) await sandbox.received('reply')
    sandbox.send({ type: 'done', cell: 1, status: 'ok' })
    await result
  })

  it(
    'answers of servers that a sandbox does not read are dropped with an error, and the kernel is ended when it goes on calling',
    { tags: ['whole'] },
    async () => {
      const { sandbox, run, deafen } = await attachDeaf()
      const large = 'x'.repeat(30 * MIB)
      const result = run(async (id) => (id <= 8 ? large : 'y'.repeat(1_000)))
      // It may end before the test waits for it.
      result.catch(() => {})
      await sandbox.received('run')
      deafen()
      for (let id = 1; id <= 8; id += 1) sandbox.send(call(id, 'call_tool'))
      await settle()
      // 128 MiB hold four replies; the other calls got errors.
      expect(sandbox.stdin.writableLength).toBeLessThan(136 * MIB)
      expect(sandbox.disposed).toBe(false)
      for (let id = 10; !sandbox.disposed && id < 200_000; id += 1) {
        sandbox.send(call(id, 'call_tool'))
        if (id % 1_000 === 0) await turn()
      }
      await expect(result).rejects.toThrow(/kept sending requests without reading/)
      expect(sandbox.disposed).toBe(true)
    },
  )
})

it('a call whose arguments would make those of all open calls too large is refused, and a single one is accepted', async () => {
  const { sandbox, run } = await attachDeaf()
  const result = run(() => new Promise(() => {}))
  await sandbox.received('run')
  // By the estimate, 50 MiB.
  const params = { kwargs: { data: Array<number>(800_000).fill(7) } }
  for (let id = 1; id <= 6; id += 1) sandbox.send(call(id, 'call_tool', params))
  const refused = await sandbox.received('reply')
  expect(refused).toMatchObject({ id: 6, error: { code: 'PROXY_TOO_MANY_CALLS' } })
  sandbox.send({ type: 'done', cell: 1, status: 'ok' })
  await result
})

it('control: a stream accepts everything that is written to it', () => {
  const stream = new PassThrough()
  for (let count = 0; count < 10; count += 1) stream.write(Buffer.alloc(30 * MIB))
  expect(stream.writableLength).toBe(300 * MIB)
})
