import { beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeSandbox } from '../../../test/support/sandboxes/fake-sandbox.ts'
import type { BridgeEvent } from '../../observe/events/event.ts'
import { EventStream } from '../../observe/events/event-stream.ts'
import { createLog } from '../../util/log.ts'
import type { Provider } from '../../isolation/provider.ts'
import { KernelPool } from './kernel-pool.ts'
import type { PoolBounds } from './pool-size.ts'

function open(start: (count: number) => FakeSandbox, size: number | PoolBounds = 1, packages: string[] = []) {
  const sandboxes: FakeSandbox[] = []
  let startCount = 0
  const events = new EventStream()
  const told: BridgeEvent[] = []
  events.subscribe({ name: 'test', receive: (batch) => void told.push(...batch.map(({ event }) => event)) })
  const provider = {
    name: 'docker' as const,
    prepare: async () => {},
    start: async () => {
      startCount += 1
      const sandbox = start(startCount)
      sandboxes.push(sandbox)
      return sandbox
    },
  }
  const logged: string[] = []
  const pool = new KernelPool({
    provider: async () => provider,
    limits: { memoryBytes: 1 },
    size,
    packages,
    log: createLog('warning', (line) => void logged.push(line)),
    events,
  })
  return { pool, sandboxes, startCount: () => startCount, told, logged }
}

const killed = { reason: 'killed', code: 137 } as const

describe('KernelPool', () => {
  beforeEach(() => void vi.useFakeTimers())

  it('the pool replaces a waiting kernel that was lost', async () => {
    const { pool, sandboxes, startCount } = open(() => new FakeSandbox().ready())
    pool.warm()
    await vi.advanceTimersByTimeAsync(0)
    sandboxes[0]!.end(killed)
    await vi.advanceTimersByTimeAsync(900)
    expect(startCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(200)
    expect(startCount()).toBe(2)
    await pool.close()
  })

  it('the pool logs a kernel that fails to start, and not one whose start ends with the pool', async () => {
    const failing = open(() => {
      throw new Error('no more processes')
    })
    failing.pool.warm()
    await vi.advanceTimersByTimeAsync(0)
    expect(failing.logged.join()).toContain('A pooled kernel failed to start')
    const ending = open(() => new FakeSandbox())
    ending.pool.warm()
    await ending.pool.close()
    await vi.advanceTimersByTimeAsync(0)
    expect(ending.logged).toEqual([])
  })

  it('the pool takes a kernel of the next provider when the first sandboxes of one do not start, and says so once', async () => {
    const fails = new FakeSandbox()
    const names: string[] = []
    const providers = (['docker', 'bubblewrap', 'pyodide'] as const).map((name) => ({
      name,
      prepare: async () => {},
      start: async () => {
        names.push(name)
        if (name === 'docker') throw new Error('docker: no room')
        // Hangs.
        if (name === 'bubblewrap') return fails
        return new FakeSandbox().ready()
      },
    }))
    const passOver = ({ name }: Provider) => {
      providers.shift()
      return `${name} failed.`
    }
    const pool = new KernelPool({
      provider: async () => providers[0]!,
      passOver,
      limits: { memoryBytes: 1 },
      size: 0,
      log: createLog('error', () => {}),
    })
    const taking = pool.take()
    await vi.advanceTimersByTimeAsync(26_000)
    const kernel = await taking
    expect(names).toEqual(['docker', 'bubblewrap', 'pyodide'])
    expect(fails.disposed).toBe(true)
    expect(pool.takeNews(kernel)).toMatch(
      /^docker failed\. bubblewrap failed\. Cells run in the embedded sandbox instead/,
    )
    expect(pool.takeNews(kernel)).toBeUndefined()
    await pool.close()
  })

  it('a provider that has started a sandbox is not passed over when another one fails', async () => {
    const passOver = vi.fn<() => string>(() => 'never')
    let startCount = 0
    const provider = {
      name: 'docker' as const,
      prepare: async () => {},
      start: async () => {
        startCount += 1
        if (startCount === 2) throw new Error('no room')
        return new FakeSandbox().ready()
      },
    }
    const pool = new KernelPool({
      provider: async () => provider,
      passOver,
      limits: { memoryBytes: 1 },
      size: 0,
      log: createLog('error', () => {}),
    })
    await pool.take()
    await expect(pool.take()).rejects.toThrow('no room')
    expect(passOver).not.toHaveBeenCalled()
    await pool.close()
  })

  it('the pool grows while sessions come faster than sandboxes start, and shrinks later', async () => {
    const ready = () => {
      const sandbox = new FakeSandbox()
      setTimeout(() => sandbox.ready(), 2_000)
      return sandbox
    }
    const { pool, sandboxes } = open(ready, { min: 1, max: 4 })
    const alive = () => sandboxes.filter(({ disposed }) => !disposed).length
    pool.warm()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(alive()).toBe(1)
    let takenCount = 0
    for (; takenCount < 30; takenCount += 1) {
      // This may wait for a start.
      void pool.take()
      await vi.advanceTimersByTimeAsync(1_000)
    }
    await vi.advanceTimersByTimeAsync(5_000)
    expect(alive() - takenCount).toBeGreaterThan(1)
    await vi.advanceTimersByTimeAsync(180_000)
    expect(alive() - takenCount).toBe(1)
    await pool.close()
  })

  it('a package whose import ends a waiting kernel is not imported in the next one', async () => {
    const start = () => {
      const sandbox = new FakeSandbox().ready()
      sandbox.stdin.prependListener('data', (chunk: Buffer) => {
        if (!chunk.includes('import_ahead(')) return
        sandbox.send = () => {}
        sandbox.end(killed)
      })
      return sandbox
    }
    const { pool, sandboxes, startCount, logged } = open(start, 1, ['fatal'])
    pool.warm()
    const kernel = await pool.take()
    expect([startCount(), kernel.sandbox]).toEqual([2, sandboxes[1]])
    expect(logged.join()).toContain('Packages are not imported ahead')
    await pool.close()
  })

  it('the pool tells whether a kernel that is taken was started ahead of need', async () => {
    const { pool, told } = open(() => new FakeSandbox().ready())
    await pool.take()
    await vi.advanceTimersByTimeAsync(200)
    await pool.take()
    await vi.advanceTimersByTimeAsync(200)
    const taken = told.filter(({ type }) => type === 'sandbox.taken')
    expect(taken).toMatchObject([{ wasPooled: false }, { wasPooled: true }])
    await pool.close()
  })

  it('the pool waits longer after each failed start, so that it does not keep a machine busy', async () => {
    const { pool, startCount } = open(() => {
      const sandbox = new FakeSandbox().ready()
      setTimeout(() => sandbox.end(killed), 10)
      return sandbox
    })
    pool.warm()
    await vi.advanceTimersByTimeAsync(3_600_000)
    // 1 + 2 + … + 256 s, and then one in five minutes.
    expect(startCount()).toBeGreaterThan(10)
    expect(startCount()).toBeLessThan(25)
    await pool.close()
  })

  it('the pool does not replace a kernel that was taken, and starts none once it is closed', async () => {
    const { pool, sandboxes, startCount } = open(() => new FakeSandbox().ready())
    pool.warm()
    await vi.advanceTimersByTimeAsync(0)
    await pool.take()
    await vi.advanceTimersByTimeAsync(200)
    expect(startCount()).toBe(2)
    sandboxes[0]!.end(killed)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(startCount()).toBe(2)
    sandboxes[1]!.end(killed)
    await vi.advanceTimersByTimeAsync(0)
    await pool.close()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(startCount()).toBe(2)
  })

  it('the pool disposes of sandboxes that are still starting when it closes', async () => {
    const { pool, sandboxes } = open(() => new FakeSandbox())
    const taken = pool.take().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(0)
    await pool.close()
    expect((await sandboxes[0]!.exited).reason).toBe('disposed')
    expect(await taken).toMatchObject({ code: expect.stringMatching(/^(SANDBOX|SHUTTING)/) })
  })

  it('the pool starts sandboxes for waiting sessions before it refills itself', async () => {
    const { pool, startCount } = open(() => new FakeSandbox())
    for (let count = 0; count < 20; count += 1) void pool.take().catch(() => {})
    await vi.advanceTimersByTimeAsync(1_000)
    const begun = startCount()
    expect(begun).toBeLessThan(20)
    pool.warm()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(startCount()).toBe(begun)
    await pool.close()
  })
})
