import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { StdioProcess } from './stdio-process.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

/** Like `docker run`, waits until its container is created and then until it is gone, whatever happens to its input. */
const CLIENT = `
  const { existsSync } = require('node:fs')
  let wasThere = false
  setInterval(() => {
    const isThere = existsSync(process.argv[1])
    if (isThere && !wasThere) console.log('created')
    if (wasThere && !isThere) process.exit(0)
    wasThere = isThere
  }, 20)`

it('a container that is still being created when its sandbox is ended is removed as well', async () => {
  const folder = newFolder()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const container = path.join(folder, 'container')
  const remove = vi.fn(() => Promise.resolve(rmSync(container, { force: true })))
  const sandbox = new StdioProcess({
    id: 'x',
    provider: 'docker',
    command: process.execPath,
    args: ['-e', CLIENT, container],
    explain: () => ({ reason: 'exited', detail: '' }),
    remove,
  })
  const disposed = sandbox.dispose()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(remove.mock.calls.length).toBeGreaterThan(1)
  // An engine's daemon completes what it has begun, even if its client is gone.
  writeFileSync(container, '')
  await once(sandbox.stdout, 'data')
  await vi.advanceTimersByTimeAsync(500)
  await disposed
  expect(existsSync(container)).toBe(false)
  expect((await sandbox.exited).reason).toBe('disposed')
})

it.runIf(process.platform === 'linux')(
  'the system ends a sandbox rather than the bridge where memory runs out, but no engine’s command',
  async () => {
    const common = { id: 'x', command: 'cat', args: [], explain: () => ({ reason: 'exited', detail: '' }) as const }
    const own = new StdioProcess({ ...common, provider: 'bubblewrap' })
    const engines = new StdioProcess({ ...common, provider: 'podman', remove: async () => {} })
    const score = ({ pid }: StdioProcess) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'))
    expect([score(own), score(engines)]).toEqual([1000, Number(readFileSync('/proc/self/oom_score_adj', 'utf8'))])
    await Promise.all([own.dispose(), engines.dispose()])
  },
)
