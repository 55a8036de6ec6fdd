import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { makeWheel } from '@sandbridge/core/test/support/servers/make-wheel.ts'
import { needsIndex, needsPip, needsProgram } from '@sandbridge/core/test/support/suite/needs.ts'
import { findPrograms } from '../../core/src/util/process/find-program.ts'
import { runPip } from './pip.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('uv provides pip where the Python of this machine has none', async () => {
  needsProgram('uv')
  // uv gets pip itself from there.
  needsIndex()
  const folder = newFolder()
  const [index, chosen] = ['index', 'chosen'].map((name) => path.join(folder, name)) as [string, string]
  for (const one of [index, chosen]) mkdirSync(one)
  const { fileName, data } = makeWheel({ name: 'table' })
  writeFileSync(path.join(index, fileName), data)
  spawnSync('python3', ['-m', 'venv', '--without-pip', path.join(folder, 'venv')])
  const python = path.join(folder, 'venv', process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
  const hasPip = spawnSync(python, ['-c', 'import pip']).status
  expect(hasPip, 'the Python runs, and has no pip').toBe(1)
  // pip's own configuration chooses the index.
  vi.stubEnv('PIP_NO_INDEX', '1')
  vi.stubEnv('PIP_FIND_LINKS', index)
  await runPip(python, ['download', '--dest', chosen], { requirements: ['table'] })
  expect(readdirSync(chosen)).toEqual([fileName])
})

it('runs no pip of the folder that the bridge runs in', async () => {
  const name = process.platform === 'win32' ? 'py' : 'python3'
  needsProgram(name)
  if (findPrograms('uv').length === 0) needsPip()
  const folder = newFolder()
  const run = path.join(folder, 'ran')
  for (const module of ['pip', 'runpy'])
    writeFileSync(path.join(folder, `${module}.py`), `open(${JSON.stringify(run)}, 'w')`)
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  process.chdir(folder)
  vi.stubEnv('PIP_NO_INDEX', '1')
  const [python] = findPrograms(name)
  spawnSync(python!, ['-m', 'pip'])
  expect(existsSync(run), 'Python itself runs it').toBe(true)
  rmSync(run)
  await expect(runPip(undefined, ['download'], { requirements: ['no-such-package'] })).rejects.toThrow(
    /no-such-package/,
  )
  expect(existsSync(run)).toBe(false)
})

/** A folder with an index of wheels, and source code that says whether it ran. */
function wheelsAndSource(wheels: Record<string, (source: string) => string[]>) {
  needsPip()
  const folder = newFolder()
  const [index, source, ran] = ['index', 'source', 'ran'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const one of [index, source]) mkdirSync(one)
  writeFileSync(
    path.join(source, 'setup.py'),
    `open(${JSON.stringify(ran)}, 'w'); import setuptools; setuptools.setup(name='evil', version='1.0')`,
  )
  for (const [name, requires] of Object.entries(wheels)) {
    const { fileName, data } = makeWheel({ name, requires: requires(source) })
    writeFileSync(path.join(index, fileName), data)
  }
  for (const [name, value] of [
    ['PIP_NO_INDEX', '1'],
    ['PIP_FIND_LINKS', index],
    ['PIP_NO_BUILD_ISOLATION', '0'],
  ])
    vi.stubEnv(name!, value)
  return { folder, index, source, ran, target: path.join(folder, 'target') }
}

const PLAIN = ['-m', 'pip', 'install', '--only-binary', ':all:', '--quiet']

it('refuses source code that a wheel of the index needs by its address', async () => {
  const { ran, source, target, folder } = wheelsAndSource({
    needy: (to) => [`evil @ ${pathToFileURL(to).href}`],
    continued: (to) => [`evil\r @ ${pathToFileURL(to).href}`],
    cloned: () => ['evil @ git+https://127.0.0.1:9/evil'],
    outer: () => ['needy'],
  })
  for (const [verb, option, name] of [
    ['install', '--target', 'needy'],
    ['download', '--dest', 'needy'],
    ['install', '--target', 'continued'],
    ['install', '--target', 'cloned'],
    ['install', '--target', 'outer'],
  ] as const)
    await expect(runPip(undefined, [verb, option, target], { requirements: [name] })).rejects.toThrow(
      /only wheels|its address/,
    )
  expect(existsSync(ran)).toBe(false)
  spawnSync('python3', [...PLAIN, '--target', path.join(folder, 'plain'), 'needy'])
  expect(existsSync(ran), `pip itself runs the code in ${source}`).toBe(true)
})

it('refuses a wheel of the index that needs a wheel by its address', async () => {
  const { target, index } = wheelsAndSource({ table: () => [] })
  const address = pathToFileURL(path.join(index, makeWheel({ name: 'table' }).fileName)).href
  const { fileName, data } = makeWheel({ name: 'needy', requires: [`table @ ${address}`] })
  writeFileSync(path.join(index, fileName), data)
  for (const [verb, option] of [
    ['install', '--target'],
    ['download', '--dest'],
  ] as const) {
    await expect(runPip(undefined, [verb, option, target], { requirements: ['needy'] })).rejects.toThrow(
      /^needy-1\.0.* needs a package by its address \(Requires-Dist: table @/,
    )
    await runPip(undefined, [verb, option, `${target}-${verb}`], { requirements: ['table'] })
  }
})

it.each(['PIP_REQUIREMENT', 'PIP_CONSTRAINT', 'PIP_EDITABLE', 'PIP_CONFIG_FILE'])(
  'runs no source code that %s names',
  async (name) => {
    const { folder, source, ran, target } = wheelsAndSource({ table: () => [] })
    const file = path.join(folder, 'file')
    const address = `evil @ ${pathToFileURL(source).href}`
    writeFileSync(
      file,
      name === 'PIP_CONFIG_FILE' ? `[install]\nrequirement = ${file}.txt\nno-binary = :all:\n` : address,
    )
    writeFileSync(`${file}.txt`, address)
    vi.stubEnv(name, name === 'PIP_EDITABLE' ? source : file)
    const wanted = name === 'PIP_CONSTRAINT' ? 'evil' : 'table'
    await runPip(undefined, ['install', '--target', target], { requirements: [wanted] }).catch(() => {})
    expect(existsSync(ran)).toBe(false)
    spawnSync('python3', [...PLAIN, '--target', path.join(folder, 'plain'), wanted])
    expect(existsSync(ran), 'pip itself runs it').toBe(true)
  },
)
