import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, BUILT_CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'

it('the entry is small, and loads what every version of Node has', () => {
  const text = readFileSync(BUILT_CLI, 'utf8')
  expect(text.length).toBeLessThan(20_000)
  const loaded = Array.from(text.matchAll(/require\("([^"]+)"\)/g), ([, name]) => name!)
  expect(loaded.toSorted()).toEqual(['./main.js', 'fs', 'module', 'os', 'path', 'url'])
})

it.each([
  ['main.js is cut off', (name: string) => name !== 'main.js', 'Unexpected end of input'],
  ['its other files are missing', (name: string) => /^(cli|main)\.js$/.test(name), 'Cannot find module'],
])('a client is told that the program is damaged where %s', (_, isWhole, why) => {
  const home = makeHome()
  const [from, dist] = [path.dirname(BUILT_CLI), path.join(home, 'package/dist')]
  mkdirSync(dist, { recursive: true })
  writeFileSync(path.join(home, 'package/NOTICE'), '')
  writeFileSync(path.join(home, 'package/package.json'), '{"version":"1.0.0","files":["dist"]}')
  for (const name of readdirSync(from))
    if (isWhole(name)) cpSync(path.join(from, name), path.join(dist, name), { recursive: true })
  if (!isWhole('main.js')) writeFileSync(path.join(dist, 'main.js'), 'const started = {')
  const input = ['initialize', 'tools/call'].map((method, id) => JSON.stringify({ jsonrpc: '2.0', id, method }))
  const options = {
    env: bridgeEnv(home, { MCP_BRIDGE_RESIDENT: 'off' }),
    encoding: 'utf8',
    input: `${input.join('\n')}\n`,
  } as const
  const { stdout, stderr, status } = spawnSync(process.execPath, [path.join(dist, 'cli.js')], options)
  expect([stdout.split('\n').length, status]).toEqual([3, 1])
  for (const text of [stdout, stderr]) expect(text).toContain(`Sandbridge cannot be loaded: ${why}`)
})

it('a package that was made of a checkout without its build says so', () => {
  const home = makeHome()
  const root = path.join(path.dirname(BUILT_CLI), '..')
  for (const name of ['package.json', 'packages/sandbridge/cli.cjs'])
    cpSync(path.join(root, name), path.join(home, name))
  const started = (folder: string, ...words: string[]) =>
    spawnSync(process.execPath, [path.join(folder, 'packages/sandbridge/cli.cjs'), ...words], { encoding: 'utf8' })
  for (const words of [[], ['--version']]) {
    const { stderr, status } = started(home, ...words)
    expect([stderr, status]).toEqual([expect.stringContaining('`npm run build && npm pack`'), 1])
  }
  const version = started(root, '--version')
  expect(version).toMatchObject({ stderr: '', status: 0 })
  expect(started(home, '--version').stdout).toBe(version.stdout)
})

it('a cell runs where HOME is relative', () => {
  const home = makeHome()
  const env = { ...bridgeEnv(home, { MCP_BRIDGE_RESIDENT: 'off' }), HOME: path.basename(home) }
  const words = [BUILT_CLI, 'exec', '-c', 'print(6 * 7)']
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: path.dirname(home), env, encoding: 'utf8' })
  expect([stdout, stderr]).toEqual(['42\n', ''])
})
