import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { makeWheel } from '@sandbridge/core/test/support/make-wheel.ts'
import { needsIndex, needsPip, needsProgram } from '@sandbridge/core/test/support/needs.ts'
import { findPrograms } from '../../core/src/util/process/find-program.ts'
import { runPip } from './pip.ts'

it('uv provides pip where the Python of this machine has none', { timeout: 120_000 }, async () => {
  needsProgram('uv')
  // uv gets pip itself from there.
  needsIndex()
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
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
  onTestFinished(() => void vi.unstubAllEnvs())
  await runPip(python, 'download', ['--dest', chosen, '--', 'table'])
  expect(readdirSync(chosen)).toEqual([fileName])
})

it('runs no pip of the folder that the bridge runs in', { timeout: 120_000 }, async () => {
  const name = process.platform === 'win32' ? 'py' : 'python3'
  needsProgram(name)
  if (findPrograms('uv').length === 0) needsPip()
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const run = path.join(folder, 'ran')
  for (const module of ['pip', 'runpy'])
    writeFileSync(path.join(folder, `${module}.py`), `open(${JSON.stringify(run)}, 'w')`)
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  process.chdir(folder)
  vi.stubEnv('PIP_NO_INDEX', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  const [python] = findPrograms(name)
  spawnSync(python!, ['-m', 'pip'])
  expect(existsSync(run), 'Python itself runs it').toBe(true)
  rmSync(run)
  await expect(runPip(undefined, 'download', ['--', 'no-such-package'])).rejects.toThrow(/no-such-package/)
  expect(existsSync(run)).toBe(false)
})
