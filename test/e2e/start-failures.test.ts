// This file verifies that a client hears from its first call why the bridge cannot start, whatever is wrong. Of a
// process that ends, a person sees only that the connection was closed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { plugIn } from '../../packages/core/src/serve/cli/package.ts'
import { parse } from '../../packages/core/src/config/settings/setting-kinds.ts'
import { namedSettings, settingContext } from '../../packages/core/src/config/settings/settings.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import {
  BUILT_CLI,
  closeTestBridge,
  makeHome,
  openTestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsRoot } from '@sandbridge/core/test/support/suite/needs.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

plugIn(PACKAGES)

const AT_ONCE = 6
/** Each is no value of most settings. */
const WRONG = ['\u0001', '/proc/x', 'no such thing', '-v x']
/** Any name is one of a context, and any text the path of a file, which may be missing. */
const NEVER_WRONG = ['MCP_BRIDGE_KUBERNETES=context', 'MCP_SERVERS_CONFIG']

/** Each setting with a value that it cannot have. */
function wrongSettings(): { variable: string; value: string }[] {
  const context = settingContext({}, { home: '/home/ann' })
  return namedSettings().flatMap((one) => {
    // A word of a variable has no blanks.
    const texts = WRONG.filter((text) => !one.variable.includes('=') || !text.includes(' '))
    const value = texts.find((text) => parse(one, text, context) === undefined)
    return value === undefined ? [] : [{ variable: one.variable, value }]
  })
}

it('every setting has a value that is wrong, but for those that take any', () => {
  const tried = new Set(wrongSettings().map(({ variable }) => variable))
  expect(namedSettings().flatMap(({ variable }) => (tried.has(variable) ? [] : variable))).toEqual(NEVER_WRONG)
})

it(
  'a client is answered with every setting wrong, one at a time, and its first call says which and what is right',
  { tags: ['whole'] },
  async () => {
    const all = wrongSettings()
    const next = async (): Promise<void> => {
      for (let one = all.shift(); one; one = all.shift()) {
        const [name = '', word] = one.variable.split('=')
        const env = { [name]: word === undefined ? one.value : `${word}=${one.value}` }
        const bridge = await openTestBridge({ env })
        try {
          const { tools } = await bridge.client.listTools()
          expect(tools.map((tool) => tool.name)).toContain('run_python')
          const told = await bridge.call({ code: '1' })
          expect(told, JSON.stringify(env)).toMatchObject({ isError: true })
          expect(told.text).toContain(name)
          expect(told.text).toContain('Allowed: ')
          expect(bridge.stderr).toContain(name)
        } finally {
          await closeTestBridge(bridge)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, next))
  },
)

it.each([
  [
    'settings.json',
    '{"cells": {\n  "timout": 30 }}',
    '{"cells": {"timeout": 30}}',
    /settings\.json:2:3: cells\.timout.*timeout/s,
  ],
  ['permissions.json', '{"deny": [', '{"permissions": {}}', /permissions\.json:1:\d+: is not valid JSON/],
])(
  'a client hears of a mistake in %s, and its next call runs when that is corrected',
  async (name, wrong, right, why) => {
    const home = makeHome()
    const file = path.join(home, 'MCPs', name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, wrong)
    const bridge = await startBridge({ home })
    for (let times = 0; times < 2; times += 1) {
      const told = await bridge.call({ code: '1' })
      expect(told).toMatchObject({ isError: true, text: expect.stringMatching(why) as string })
    }
    writeFileSync(file, right)
    expect(await bridge.run('20 + 1')).toBe('21')
  },
)

it.each([
  [['serve'], "Unknown command 'serve'"],
  [['run', '--stdio'], "unknown option '--stdio'"],
  [['--stdio'], "unknown option '--stdio'"],
  [['run', '--tls-cert', 'x'], 'are for serving over HTTP'],
])('a client that starts the bridge with %j hears what is wrong', async (args, why) => {
  const bridge = await startBridge({ args, ownProcess: true })
  expect(await bridge.call({ code: '1' })).toMatchObject({
    isError: true,
    text: expect.stringContaining(why) as string,
  })
})

it('a client that names a profile which does not exist lists the tool, and its call says so', async () => {
  const bridge = await startBridge({ env: { MCP_BRIDGE_PROFILE: 'nope' } })
  expect((await bridge.client.listTools()).tools.map(({ name }) => name)).toContain('run_python')
  const text = expect.stringContaining("There is no profile 'nope'") as string
  expect(await bridge.call({ code: '1' })).toMatchObject({ isError: true, text })
})

it('a user without HOME and without an entry in the list of users is answered, and told to set HOME', () => {
  needsRoot('it becomes another user')
  const env = { PATH: process.env['PATH'] ?? '', MCP_BRIDGE_RESIDENT: 'off', MCP_BRIDGE_RUNTIME: 'pyodide' }
  const run = (args: string[], input = '') =>
    spawnSync(process.execPath, [BUILT_CLI, ...args], {
      env,
      input,
      uid: 54_321,
      gid: 54_321,
      cwd: '/',
      encoding: 'utf8',
    })
  expect(run(['--help'])).toMatchObject({ status: 0, stderr: '' })
  expect(run(['--version'])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+/) as string })
  const checked = run(['config', '--check'])
  expect(checked.stdout).toContain('HOME is not set')
  expect(checked.stderr).not.toMatch(/^\s+at /m)
})
