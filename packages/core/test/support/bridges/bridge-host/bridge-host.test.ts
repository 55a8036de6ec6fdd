import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, HOSTED, makeHome, PLAIN_CLI, type TestBridge } from '../bridge-process.ts'
import { skip } from '../../suite/needs.ts'
import { until } from '../../machine/processes.ts'
import { isAlive } from '../resident-clients.ts'
import { type ProgramResult, runCommand, runProgram } from '../../machine/run-program.ts'
import { startBridge } from '../start-bridge.ts'
import { HostedProcess } from './hosted-process.ts'

beforeEach(() => {
  if (process.env['SANDBRIDGE_TEST_BRIDGES'] !== HOSTED) skip('each bridge of a test has its own process here')
})

/** It inherits the bridge's folder, and what is told of the bridge's variables. */
const servers = { one: { ...fixtureServer('whoami.mjs'), env: { WHO: '${WHOSE}' } } }

interface Seen {
  pid: number
  cwd: string
  who: string
  home: string
}
const seenBy = async (bridge: TestBridge): Promise<Seen> =>
  JSON.parse(await bridge.run('import json\nprint(json.dumps(await mcp_one.who()))')) as Seen

it('bridges of one host share neither servers nor variables nor a folder, and one ends without the other', async () => {
  const bridges = [
    await startBridge({ servers, env: { WHOSE: 'ann' } }),
    await startBridge({ servers, env: { WHOSE: 'bob' } }),
  ] as const
  const [ann, bob] = [await seenBy(bridges[0]), await seenBy(bridges[1])]
  expect(ann).toMatchObject({ who: 'ann', cwd: bridges[0].home, home: bridges[0].home })
  expect(bob).toMatchObject({ who: 'bob', cwd: bridges[1].home, home: bridges[1].home })
  expect(ann.pid).not.toBe(bob.pid)
  await bridges[0].client.close()
  expect(isAlive(ann.pid)).toBe(false)
  expect(await seenBy(bridges[1])).toEqual(bob)
})

it('only a bridge that asks for it has a process of its own', async () => {
  const hosted = await startBridge()
  expect(() => hosted.pid).toThrow('ownProcess')
  const own = await startBridge({ ownProcess: true })
  expect(isAlive(own.pid)).toBe(true)
  await own.client.close()
  await until(() => !isAlive(own.pid))
})

it.each(['SIGTERM', 'SIGKILL'] as const)('what a host plays ends at %s as a process does', async (signal) => {
  const home = makeHome()
  const hosted = new HostedProcess({ cli: PLAIN_CLI, args: ['run'], env: bridgeEnv(home), cwd: home })
  hosted.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await once(hosted.stdout, 'data')
  const ended = once(hosted, 'exit')
  hosted.kill(signal)
  expect(await ended).toEqual(signal === 'SIGTERM' ? [143, null] : [null, 'SIGKILL'])
})

it('what a host plays has an exit code, and says on its stderr what was wrong', async () => {
  const home = makeHome()
  const env = bridgeEnv(home, { MCP_BRIDGE_TIMEOUT: 'soon' })
  const hosted = new HostedProcess({ cli: PLAIN_CLI, args: ['run'], env, cwd: home })
  hosted.stdin.end()
  const [said, ended] = await Promise.all([text(hosted.stderr), once(hosted, 'exit')])
  expect(said).toContain('MCP_BRIDGE_TIMEOUT')
  expect(ended).toEqual([2, null])
})

describe('a command', () => {
  const home = makeHome(servers)
  const env = bridgeEnv(home, { WHOSE: 'ann' })
  const CODE = 'import json\nprint(json.dumps(await mcp_one.who()))'
  const seenIn = (ended: ProgramResult): Seen & { parent: number } => {
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    return JSON.parse(ended.stdout) as Seen & { parent: number }
  }

  it.each([
    ['as an argument', ['exec', '-c', CODE], ''],
    ['from its input', ['exec', '-'], CODE],
  ])('a command that a host plays ends when its work is done, and leaves nothing: code %s', async (_, words, input) => {
    const options = { cwd: home, input }
    const played = seenIn(await runCommand(words, env, options))
    expect(played).toMatchObject({ who: 'ann', cwd: home })
    expect([isAlive(played.pid), isAlive(played.parent)]).toEqual([false, true])
    const real = seenIn(await runProgram(process.execPath, [CLI, ...words], env, options))
    expect(real).toMatchObject({ who: 'ann', cwd: home })
    expect([isAlive(real.pid), isAlive(real.parent)]).toEqual([false, false])
  })

  it('a command that a host plays has the exit code of a process', async () => {
    const failed = await runCommand(['exec', '-c', '1 / 0'], env)
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('ZeroDivisionError') })
    const unknown = await runCommand(['exce'], env)
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('exec') })
  })

  it('a command that a host plays ends where the program of a server is missing', async () => {
    const other = makeHome({ absent: { command: 'no-such-program' } })
    const { code, stdout } = await runCommand(['index'], bridgeEnv(other))
    expect([code, stdout]).toEqual([1, expect.stringContaining('absent')])
  })
})
