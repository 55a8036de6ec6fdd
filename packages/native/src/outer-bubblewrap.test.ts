import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'
import { bubblewrapLayer } from './outer-bubblewrap.ts'

it('an `ldd` that hangs does not keep the embedded sandbox from starting', async () => {
  needsLinux('bubblewrap is of Linux')
  const bundle = newFolder()
  writeFileSync(path.join(bundle, 'ldd'), '#!/bin/sh\nsleep 60\n', { mode: 0o755 })
  vi.stubEnv('PATH', `${bundle}:/usr/bin:/bin`)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void (vi.useRealTimers(), vi.unstubAllEnvs()))
  const layer = bubblewrapLayer({ bwrap: 'bwrap', become: [] }, process.execPath, bundle)
  await vi.advanceTimersByTimeAsync(10_000)
  expect((await layer).wall).toBe('bubblewrap')
})
