// A feature unplugs: without its folder and its line in src/features.ts the rest type-checks, is built and runs cells.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { bridgeEnv, makeHome, ROOT } from './support/bridge-process.ts'

vi.setConfig({ testTimeout: 240_000 })

const FEATURES = readdirSync(path.join(ROOT, 'src/features'))
const COPIED = [
  'src',
  'web',
  'python',
  'assets',
  'scripts',
  'test',
  'NOTICE',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
]
/** Quick tests of what features plug into. */
const QUICK = ['src/bridge', 'src/cli/terminal', 'src/serve/mcp', 'src/config/readers']

let copy = ''

beforeAll(() => {
  mkdirSync(path.join(ROOT, '.cache/test'), { recursive: true })
  copy = mkdtempSync(path.join(ROOT, '.cache/test/unplug-'))
  // The tests that start bridges stay behind: some are about features.
  const filter = (file: string): boolean =>
    !/[\\/]node_modules$/.test(file) && !(file.startsWith(path.join(ROOT, 'test')) && file.endsWith('.test.ts'))
  for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true, filter })
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'), 'junction')
  const config = JSON.parse(readFileSync(path.join(copy, 'tsconfig.json'), 'utf8')) as object
  writeFileSync(path.join(copy, 'tsconfig.json'), JSON.stringify({ ...config, include: ['src', 'test/support'] }))
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** Takes the folders of features away, and their lines. */
function unplug(names: readonly string[]): void {
  rmSync(path.join(copy, 'src'), { recursive: true })
  cpSync(path.join(ROOT, 'src'), path.join(copy, 'src'), { recursive: true })
  const list = path.join(copy, 'src/features.ts')
  for (const name of names) {
    rmSync(path.join(copy, 'src/features', name), { recursive: true })
    const lines = readFileSync(list, 'utf8').split('\n')
    const kept = lines.filter((line) => !line.includes(`./features/${name}/`))
    const imported = /import \{ (\w+) \}/.exec(lines.find((line) => !kept.includes(line))!)![1]!
    writeFileSync(list, kept.join('\n').replace(new RegExp(`(?<=\\[.*)\\b${imported}\\b(?:, )?`), ''))
  }
}

function node(...args: string[]): string {
  const home = makeHome()
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: copy,
    env: bridgeEnv(home),
    encoding: 'utf8',
  })
  rmSync(home, { recursive: true, force: true })
  return status === 0 ? stdout : `${stdout}${stderr} (exit code ${status})`
}

const typeErrors = (): string =>
  node(
    path.join(ROOT, 'node_modules/typescript/bin/tsc'),
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    path.join(copy, 'types'),
    '-p',
    copy,
  )

it('a copy of the sources in which a feature is missing but still listed does not type-check', () => {
  unplug([])
  rmSync(path.join(copy, 'src/features', FEATURES[0]!), { recursive: true })
  expect(typeErrors()).toContain(`Cannot find module './features/${FEATURES[0]}/`)
})

it.each(FEATURES)('without the feature %s and its line the rest type-checks', (name) => {
  unplug([name])
  expect(typeErrors()).toBe('')
})

it('without any feature the rest passes its quick tests, is built, runs a cell and has no command of theirs', () => {
  unplug(FEATURES)
  expect(typeErrors()).toBe('')
  expect(node(path.join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'unit', ...QUICK)).toMatch(
    /\d passed, 0 failed, \d+ skipped\n$/,
  )
  expect(node('scripts/build.mjs')).toBe('')
  expect(node('dist/cli.js', 'exec', '-c', '20 + 22')).toBe('42\n')
  const help = node('dist/cli.js', '--help')
  expect(help).toContain('exec')
  for (const command of ['workflows', 'schedule', 'find', 'add'])
    expect(help).not.toMatch(new RegExp(`^ +${command} `, 'm'))
})
