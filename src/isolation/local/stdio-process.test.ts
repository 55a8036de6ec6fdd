import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { StdioProcess } from './stdio-process.ts'

/** Like `docker run`, waits until its container is created and then until it is gone, whatever happens to its input. */
const CLIENT = `
  const { existsSync } = require('node:fs')
  let wasThere = false
  setInterval(() => {
    const isThere = existsSync(process.argv[1])
    if (wasThere && !isThere) process.exit(0)
    wasThere = isThere
  }, 20)`

it(
  'a container that is still being created when its sandbox is ended is removed as well',
  { timeout: 30_000 },
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sb-engine-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const container = path.join(folder, 'container')
    const sandbox = new StdioProcess({
      id: 'x',
      provider: 'docker',
      command: process.execPath,
      args: ['-e', CLIENT, container],
      explain: () => ({ reason: 'exited', detail: '' }),
      remove: () => Promise.resolve(rmSync(container, { force: true })),
    })
    // An engine's daemon completes what it has begun, even if its client is gone.
    const made = new Promise<void>((resolve) =>
      setTimeout(() => {
        writeFileSync(container, '')
        resolve()
      }, 5_000),
    )
    await sandbox.dispose()
    await made
    expect(existsSync(container)).toBe(false)
    expect((await sandbox.exited).reason).toBe('disposed')
  },
)
