import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const here = import.meta.dirname

it('npm run check ends with the part that names what was skipped', () => {
  expect(readFileSync(path.join(here, 'main.mjs'), 'utf8')).toContain("'release', 'python']")
})

it('the check of Python says in its last line which tools are missing, and fails where they must be there', () => {
  // A copy, because the tools may be installed beside the script.
  const root = mkdtempSync(path.join(tmpdir(), 'sb-check-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(path.join(root, 'packages/core/python'), { recursive: true })
  const script = path.join(root, 'scripts/check/check-python.mjs')
  cpSync(path.join(here, 'check-python.mjs'), script)
  const run = (env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, [script], { encoding: 'utf8', env: { PATH: root, ...env } })
  const { stdout, status } = run({})
  expect([stdout.trimEnd().split('\n').at(-1), status]).toEqual([
    'Skipped: ruff check, ruff format --check, mypy --strict (not installed; see packages/core/python/requirements-check.txt)',
    0,
  ])
  expect(run({ CI: 'true' }).status).toBe(1)
})
