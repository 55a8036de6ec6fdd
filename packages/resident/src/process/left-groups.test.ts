import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'
import { startTime } from '../../../core/src/util/process/process-id.ts'
import { endLeftGroups } from './left-groups.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('ends a group that a resident has left, and none of an earlier boot', async () => {
  needsLinux('other systems do not tell when a process has started')
  const home = newFolder()
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const record = (boot: string, started: string): void =>
    writeFileSync(path.join(home, 'groups.json'), JSON.stringify({ boot, groups: [[child.pid, started]] }))
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  for (const [when, started] of [
    ['another boot', startTime(child.pid!)!],
    [boot, '1'],
  ] as const) {
    record(when, started)
    endLeftGroups(home)
  }
  await sleep(100)
  expect(child.exitCode ?? child.signalCode).toBeNull()
  record(boot, startTime(child.pid!)!)
  endLeftGroups(home)
  expect(await ended).toEqual([null, 'SIGKILL'])
})
