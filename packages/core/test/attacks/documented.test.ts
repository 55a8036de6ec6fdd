// This file verifies the links from promises in docs/security.md to their tests: every link leads to a file, and a link
// text in code format names a test.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { PACKAGE_ROOT } from '../../src/util/package-root.ts'

const FOLDER = path.join(PACKAGE_ROOT, 'docs')
const PAGE = readFileSync(path.join(FOLDER, 'security.md'), 'utf8')

/** Sections whose list items are descriptions instead of promises. */
const DESCRIPTIONS = /^#+ (podman, docker|bubblewrap|kubernetes|pyodide|What is not promised)\n/

/** List items that begin with a promise in bold and name its tests in their last lines. */
const PROMISES = PAGE.split(/^(?=#+ )/m)
  .filter((section) => !DESCRIPTIONS.test(section))
  .flatMap((section) => section.split(/\n(?=- |\n)/))
  .map((item) => item.trim())
  .filter((item) => item.startsWith('- **'))
  .map((item) => ({ promise: item.split('\n')[0], tests: item.split('\n  Tests: ')[1] ?? '' }))

const LINKS = [...PAGE.matchAll(/\[(`?)([^\]`]+)`?\]\((\.\.\/(?:packages|test)\/[^)]+)\)/g)].map(
  ([, quote, text = '', target = '']) => ({ text, target, isName: quote === '`' }),
)

it('docs/security.md has a test for every promise, or says that there is none', () => {
  expect(PROMISES.length).toBeGreaterThan(25)
  const without = PROMISES.filter(({ tests }) => !/\]\(\.\.\/(packages|test)\/|^–$/.test(tests))
  expect(without.map(({ promise }) => promise)).toEqual([])
})

it('docs/security.md links to test files that exist', () => {
  const missing = LINKS.filter(({ target }) => !existsSync(path.join(FOLDER, target)))
  expect(missing).toEqual([])
})

it('docs/security.md names tests that exist in their files', () => {
  const named = LINKS.filter(({ isName }) => isName)
  expect(named.length).toBeGreaterThan(5)
  const unknown = named.filter(({ text, target }) => !readFileSync(path.join(FOLDER, target), 'utf8').includes(text))
  expect(unknown).toEqual([])
})

it('docs/security.md links every file of attacks', () => {
  const list = readFileSync(path.join(import.meta.dirname, 'list/all.ts'), 'utf8')
  const files = [...list.matchAll(/from '\.\/([\w-]+\.ts)'/g)].map(
    ([, file]) => `../packages/core/test/attacks/list/${file}`,
  )
  const linked = new Set(LINKS.map(({ target }) => target))
  expect(files.filter((file) => !linked.has(file))).toEqual([])
})
