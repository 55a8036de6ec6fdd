// This file verifies settings.json end to end: `sandbridge config`, and that cells run with what the file says.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

function sandbridge(home: string, args: string[], env: Record<string, string> = {}, input?: string) {
  return runCommand(args, bridgeEnv(home, env), input === undefined ? {} : { input })
}

const fileIn = (home: string): string => path.join(home, 'MCPs', 'settings.json')

it('config sets, lists, checks and removes settings; no output has a secret', async () => {
  const home = makeHome()
  const secret = 'hunter2-hunter2-hunter2'
  expect((await sandbridge(home, ['config', '--path'])).stdout.trim()).toBe(fileIn(home))
  expect((await sandbridge(home, ['config', '--check'])).code).toBe(0)

  const set = await sandbridge(home, ['config', 'output.tokens', '700'])
  expect(set).toMatchObject({ code: 0, stdout: `Set output.tokens to 700 in ${fileIn(home)}.\n` })
  const given = await sandbridge(home, ['config', 'http.token', '-'], {}, `${secret}\n`)
  expect(given).toMatchObject({ code: 0, stdout: `Set http.token in ${fileIn(home)}.\n` })
  expect(readFileSync(fileIn(home), 'utf8')).toContain(secret)

  const listed = await sandbridge(home, ['config'], { MCP_BRIDGE_PIDS: '64' })
  expect(listed.stdout).toMatch(/^output\.tokens +700 +settings\.json:4:5$/m)
  expect(listed.stdout).toMatch(/^sandbox\.pids +64 +MCP_BRIDGE_PIDS$/m)
  expect(listed.stdout).toMatch(/^http\.token +\(set, not shown\) +settings\.json/m)
  expect(listed.stdout).toMatch(/^cells\.timeout +30 +default$/m)
  const json = await sandbridge(home, ['config', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ file: fileIn(home) })
  expect([listed, json, given].map(({ stdout, stderr }) => stdout + stderr).join('\n')).not.toContain('hunter2')

  const remove = async () => (await sandbridge(home, ['config', '--remove', 'output.tokens'])).stdout
  expect(await remove()).toContain(`Removed output.tokens from ${fileIn(home)}.`)
  expect(readFileSync(fileIn(home), 'utf8')).not.toContain('tokens')
  expect(await remove()).toBe(`output.tokens is not set in ${fileIn(home)}.\n`)
})

it('a mistake in the file stops every command with file, line and the near name, and config --check exits with 1', async () => {
  const home = makeHome()
  mkdirSync(path.dirname(fileIn(home)), { recursive: true })
  writeFileSync(fileIn(home), '{\n  // mine\n  "permissions": { "presett": "readonly" }\n}\n')
  const problem = `${fileIn(home)}:3:20: permissions.presett: is not a setting. Did you mean preset?`
  expect(await sandbridge(home, ['config', '--check'])).toMatchObject({ code: 1, stdout: `${problem}\n` })
  for (const args of [['servers'], ['doctor'], ['exec', '-c', '1'], ['run']]) {
    const { code, stderr } = await sandbridge(home, args)
    expect(stderr).toContain(problem)
    expect(code).not.toBe(0)
  }
  // An editor is not the only way out.
  expect((await sandbridge(home, ['config', '--path'])).code).toBe(0)
})

it('cells run with what the file says, unless a variable says otherwise', { tags: ['whole'] }, async () => {
  await providerOrSkip('pyodide')
  const home = makeHome()
  mkdirSync(path.dirname(fileIn(home)), { recursive: true })
  writeFileSync(fileIn(home), '{"sandbox": {"runtime": "pyodide"}, "output": {"tokens": 120}}')
  const code = "print('\\n'.join(str(n) * 9 for n in range(2000)))"
  const env = { MCP_BRIDGE_RUNTIME: '' }
  const cell = (more = {}) => sandbridge(home, ['exec', '--json', '-c', code], { ...env, ...more })
  const [short, long] = [await cell(), await cell({ MCP_BRIDGE_OUTPUT_TOKENS: '5000' })]
  expect([short.code, long.code]).toEqual([0, 0])
  const doctor = await sandbridge(home, ['doctor', '--json'], env)
  expect(JSON.parse(doctor.stdout)).toMatchObject({ runtime: 'pyodide', used: { provider: 'pyodide' } })
})

it('a bridge that runs follows the file, and runs no cell while it is invalid', async () => {
  const home = makeHome()
  mkdirSync(path.dirname(fileIn(home)), { recursive: true })
  const bridge = await startBridge({ home })
  const long = async () => JSON.stringify(await bridge.call({ code: "print('word ' * 3000)" })).length
  expect(await long()).toBeGreaterThan(12_000)
  writeFileSync(fileIn(home), '{"output": {"tokens": 200}, "sandbox": {"pids": 99}}')
  const told = JSON.stringify(await bridge.call({ code: '1' }))
  expect(told).toMatch(
    /sandbox\.pids has changed in .*settings\.json. It takes effect when the bridge is started again/,
  )
  expect(JSON.stringify(await bridge.call({ code: '1' }))).not.toContain('sandbox.pids')
  expect(await long()).toBeLessThan(4_000)
  writeFileSync(fileIn(home), '{"output": {"tokns": 200}}')
  expect(JSON.stringify(await bridge.call({ code: '1' }))).toContain(
    'output.tokns: is not a setting. Did you mean tokens?',
  )
  writeFileSync(fileIn(home), '{}')
  expect(await long()).toBeGreaterThan(12_000)
})
