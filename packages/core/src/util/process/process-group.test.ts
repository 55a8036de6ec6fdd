import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { descendants } from '../../../test/support/machine/processes.ts'
import { endFirst } from './process-group.ts'

it.runIf(process.platform === 'linux')('what a child has started early ends before the bridge, too', async () => {
  const child = spawn('sh', ['-c', '(sleep 60; true) & echo started; wait'], { detached: true })
  onTestFinished(() => void process.kill(-child.pid!, 'SIGKILL'))
  await once(child.stdout, 'data')
  await expect.poll(() => descendants(child.pid!).length).toBeGreaterThan(1)
  endFirst(child)
  const pids = [child.pid!, ...descendants(child.pid!).map(({ pid }) => pid)]
  const scoreOf = (pid: number | string) => readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim()
  expect(pids.map(scoreOf)).toEqual(pids.map(() => '1000'))
  expect(scoreOf('self'), 'this process ends later').not.toBe('1000')
})
