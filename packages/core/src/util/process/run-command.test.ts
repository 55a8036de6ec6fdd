import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { runningProcesses, until } from '../../../test/support/processes.ts'
import { needsPosix } from '../../../test/support/needs.ts'
import { runCommand } from './run-command.ts'

const MODULE = new URL('run-command.ts', import.meta.url).href

it('a command that is running when the bridge ends is ended as well', async () => {
  needsPosix('a command of POSIX')
  const script = `
    const { runCommand } = await import('${MODULE}')
    void runCommand(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log(process.pid)'], { onLine: console.log })
    process.stdin.resume().on('end', () => process.exit())`
  const bridge = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  const [said] = (await once(bridge.stdout, 'data')) as [Buffer]
  const pid = Number(said.toString())
  const isRunning = () => runningProcesses().some((one) => one.pid === pid)
  expect(isRunning()).toBe(true)
  bridge.stdin.end()
  await once(bridge, 'exit')
  await until(() => !isRunning())
})

it('the bridge does not wait for a command in the background before it exits', async () => {
  const script = `
    const { runCommand } = await import('${MODULE}')
    void runCommand(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { inBackground: true })`
  const bridge = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  expect(await once(bridge, 'exit')).toEqual([0, null])
})

it('a command that does not end in time is given up, also where a program that it started goes on', async () => {
  needsPosix('a shell of POSIX')
  // Without the end of its output this waits for the sleeping program, longer than a test may take.
  const { code } = await runCommand('/bin/sh', ['-c', 'sleep 60 & wait'], { timeoutMs: 200 })
  expect(code).toBeNull()
})
