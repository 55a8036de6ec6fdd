import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, vi } from 'vitest'
import { runningProcesses, until } from '../../../test/support/machine/processes.ts'
import { needsPosix } from '../../../test/support/suite/needs.ts'
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

it('says which signal ended a command that wrote nothing', async () => {
  needsPosix('signals')
  expect(await runCommand('/bin/sh', ['-c', 'kill -SEGV $$'])).toMatchObject({ code: null, stderr: 'ended by SIGSEGV' })
})

it('a command that finds no file for its pipes is a result, not the end of the bridge', async () => {
  needsPosix('a limit on open files')
  const script = `
    const { runCommand } = await import('${MODULE}')
    const { openSync } = await import('node:fs')
    try { for (;;) openSync('/dev/null') } catch {}
    const result = await runCommand('true', [])
    process.stdout.write(JSON.stringify(result))`
  const args = ['-c', 'ulimit -n 60; exec "$@"', 'sh', process.execPath, '--import', 'tsx', '--input-type=module']
  const bridge = spawn('/bin/sh', [...args, '-e', script])
  const [said] = (await once(bridge.stdout, 'data')) as [Buffer]
  expect(JSON.parse(said.toString())).toMatchObject({ code: null, stderr: 'no more files can be opened' })
})

it('a command that the system does not start at all is a result: no memory, words that are too long', async () => {
  const { code, missing, stderr } = await runCommand(process.execPath, ['x'.repeat(3 * 2 ** 20)])
  expect({ code, missing }).toEqual({ code: null, missing: false })
  expect(stderr).toMatch(/^spawn E\w+/)
})

it('a command prints what can be read, whatever the terminal of the bridge wants', async () => {
  vi.stubEnv('FORCE_COLOR', '1')
  vi.stubEnv('COLUMNS', '20')
  const env = { ...process.env, CLICOLOR_FORCE: '1' }
  const code =
    'console.log(process.env.FORCE_COLOR, process.env.CLICOLOR_FORCE, process.env.COLUMNS, process.env.NO_COLOR)'
  for (const options of [{}, { env }])
    expect(await runCommand(process.execPath, ['-e', code], options)).toMatchObject({
      stdout: 'undefined undefined undefined 1',
    })
})

it('the bridge does not wait for a command in the background before it exits', async () => {
  const script = `
    const { runCommand } = await import('${MODULE}')
    void runCommand(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { inBackground: true })`
  const bridge = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  expect(await once(bridge, 'exit')).toEqual([0, null])
})

it('a command that does not answer is over after its limit, with the program behind its wrapper', async () => {
  needsPosix('a wrapper of POSIX')
  const wrapper = 'sleep 150 & echo $!; wait'
  const { code, stdout, stderr } = await runCommand('sh', ['-c', wrapper], { timeoutMs: 300 })
  expect({ code, stderr }).toEqual({ code: null, stderr: 'no answer within 0.3 s' })
  await until(() => !runningProcesses().some(({ pid }) => pid === Number(stdout)))
})

it('what a command leaves running does not keep its answer', async () => {
  needsPosix('a process in the background')
  const { code, stdout } = await runCommand('sh', ['-c', 'sleep 4.321 & echo started $!; exit 3'])
  const [, pid] = /^started (\d+)$/.exec(stdout) ?? []
  expect(code).toBe(3)
  // It has not been ended: it may be an engine's service.
  process.kill(Number(pid))
})
