import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
// @ts-expect-error The build's scripts have no types.
import { replaceFolder } from './replace-folder.mjs'

const HOUR_MS = 3_600_000

function folders() {
  const top = mkdtempSync(path.join(tmpdir(), 'replace-'))
  onTestFinished(() => rmSync(top, { recursive: true }))
  const dist = path.join(top, 'dist')
  const build = (files: Record<string, string>, keepMs = HOUR_MS): void => {
    const built = path.join(top, 'built')
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(built, name)), { recursive: true })
      writeFileSync(path.join(built, name), text)
    }
    replaceFolder(built, dist, { last: 'cli.js', keepMs })
    expect(existsSync(built)).toBe(false)
  }
  return { build, at: (name: string) => path.join(dist, name) }
}

it('a build keeps the files that a program of the build before it may still load', () => {
  const { build, at } = folders()
  build({ 'cli.js': 'one', 'part-1.js': 'x', 'packages/page/web/index.html': 'page' })
  build({ 'cli.js': 'two', 'part-2.js': 'y', 'packages/page/web/index.html': 'page' })
  expect(readFileSync(at('cli.js'), 'utf8')).toBe('two')
  expect([existsSync(at('part-1.js')), existsSync(at('part-2.js'))]).toEqual([true, true])
})

it('a build removes files of earlier builds after an hour, and for a package at once', () => {
  const { build, at } = folders()
  build({ 'cli.js': 'one', 'part-1.js': 'x', 'part-2.js': 'x' })
  utimesSync(at('part-1.js'), 0, 0)
  build({ 'cli.js': 'two' })
  expect([existsSync(at('part-1.js')), existsSync(at('part-2.js'))]).toEqual([false, true])
  build({ 'cli.js': 'two' }, 0)
  expect(existsSync(at('part-2.js'))).toBe(false)
})

it('a build that changes nothing touches nothing', () => {
  const { build, at } = folders()
  build({ 'cli.js': 'one' })
  utimesSync(at('cli.js'), 1000, 1000)
  build({ 'cli.js': 'one' })
  expect(statSync(at('cli.js')).mtimeMs).toBe(1_000_000)
})
