import { mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { ServerDefinition } from './server-definition.ts'
import { startInputs } from './start-inputs.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

let home: string
beforeEach(() => {
  home = newFolder()
  mkdirSync(path.join(home, 'bin'))
})

const SERVER = { command: 'tool', args: ['-y', 'pkg', '--config=~/conf.json', './run.js'], envFile: '~/.env' }

function inputs(env: Record<string, string> = {}): string {
  const texts = { KEY: '${API_KEY:-none}', OTHER: '${input:tok en}', FILE: '${file:secret.txt}', PLAIN: 'x' }
  const transport = { type: 'stdio' as const, ...SERVER, env: texts, inheritEnv: ['GIVEN'] }
  const definition: ServerDefinition = { name: 's', transport, source: { client: 'c', file: 'f' } }
  const place = { env: { PATH: path.join(home, 'bin'), ...env }, home, workspaceFolder: home }
  return startInputs(definition, place)
}

it.each([
  ['a variable in a placeholder', { API_KEY: 'k' }],
  ['an inherited variable', { GIVEN: 'g' }],
  ['a proxy', { HTTPS_PROXY: 'http://localhost:1' }],
])('the inputs of a start change with %s', (_what, env) => {
  expect(inputs(env)).not.toBe(inputs())
  expect(inputs(env)).toBe(inputs(env))
})

/** Windows finds programs by their extension. */
const TOOL = process.platform === 'win32' ? 'bin/tool.exe' : 'bin/tool'

it.each([TOOL, 'conf.json', 'run.js', '.env', 'secret.txt'])(
  'the inputs of a start change when %s appears or is written',
  (name) => {
    const before = inputs()
    const file = path.join(home, name)
    writeFileSync(file, 'x', { mode: 0o755 })
    const there = inputs()
    utimesSync(file, 1, 1)
    expect(new Set([before, there, inputs()]).size).toBe(3)
  },
)

it.each(['in its place', 'moved over it'])('a file with the size and time of the one before it counts, %s', (kind) => {
  const file = path.join(home, 'secret.txt')
  const put = (text: string, where = file): void => {
    writeFileSync(where, text)
    utimesSync(where, 1_000, 1_000)
  }
  put('one')
  const before = inputs()
  // Control.
  expect(inputs()).toBe(before)
  const { ctimeMs } = statSync(file)
  const written = kind === 'in its place' ? file : `${file}.new`
  // File systems count time in steps, of some milliseconds on Linux and Windows.
  do put('two', written)
  while (statSync(written).ctimeMs === ctimeMs)
  if (written !== file) renameSync(written, file)
  expect(inputs()).not.toBe(before)
})

it('the inputs of a start do not depend on other variables, and hold no value', () => {
  expect(inputs({ UNRELATED: '1', TERM: 'xterm' })).toBe(inputs())
  expect(inputs({ API_KEY: 'a-secret-value' })).toMatch(/^[0-9a-f]{32}$/)
})
