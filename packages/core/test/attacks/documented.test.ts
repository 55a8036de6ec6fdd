// This file verifies the links from promises in docs/security.md to their tests: every link leads to a file, and a link
// text in code format names a test.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { PACKAGE_ROOT } from '../../src/util/package-root.ts'

const FOLDER = path.join(PACKAGE_ROOT, 'docs')
const PAGE = readFileSync(path.join(FOLDER, 'security.md'), 'utf8')

const [PROMISED = '', TESTED = ''] = PAGE.split('## Tests of each promise\n')

/** The items of the first numbered list in a text. */
function numbered(text: string): string[] {
  const [, list = ''] = /(?:^|\n\n)(1\. [^]*?)(?:\n\n|$)/.exec(text.trim()) ?? []
  return list.split(/\n(?=\d+\. )/).filter(Boolean)
}

/** Each promise of a section has the links of the item with its number, in the list with the section's title. */
const PROMISES = PROMISED.split(/^#+ /m).flatMap((section) => {
  const [title = ''] = section.split('\n')
  const tests = numbered(TESTED.split(`\n**${title}**\n`)[1] ?? '')
  return numbered(section).map((promise, at) => ({ promise, count: tests.length, tests: tests[at] ?? '', section }))
})

const LINKS = [...PAGE.matchAll(/\[(`?)([^\]`]+)`?\]\((\.\.\/(?:packages|test)\/[^)]+)\)/g)].map(
  ([, quote, text = '', target = '']) => ({ text, target, isName: quote === '`' }),
)

it('docs/security.md has a test for every promise, or says that there is none', () => {
  expect(PROMISES.length).toBeGreaterThan(60)
  const without = PROMISES.filter(({ tests }) => !/\]\(\.\.\/(packages|test)\/|^\d+\. –$/.test(tests))
  expect(without.map(({ promise }) => promise)).toEqual([])
  const shifted = PROMISES.filter(({ count, section }) => count !== numbered(section).length)
  expect(shifted.map(({ promise }) => promise)).toEqual([])
})

it('docs/security.md links to test files that exist', () => {
  const missing = LINKS.filter(({ target }) => !existsSync(path.join(FOLDER, target)))
  expect(missing).toEqual([])
})

it('docs/security.md names tests that exist in their files', () => {
  const named = LINKS.filter(({ isName }) => isName)
  expect(named.length).toBeGreaterThan(2)
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
