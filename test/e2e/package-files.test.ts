// This file verifies that the links of the README lead to files that the package holds.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/bridge-process.ts'

it('every file that README.md links to is in the package', () => {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const output = execFileSync(npm, ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: ROOT, encoding: 'utf8' })
  const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }]
  const links = readFileSync(path.join(ROOT, 'README.md'), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)
  const linked = Array.from(links, ([, link]) => link!)
  expect(linked).toContain('ARCHITECTURE.md')
  expect(linked.filter((link) => !files.some((file) => file.path === link))).toEqual([])
})
