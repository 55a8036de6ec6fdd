// This file verifies what `npm run check:docs` finds, and that the paths in pages for contributors exist.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { dialectIn, dialectInMessages, dialectOf, longComments, problemsIn } from './check-docs.mjs'

const ROOT = path.join(import.meta.dirname, '../..')
const known = (file: string) => ['README.md', 'docs', 'docs/a.md', 'docs/pic.svg'].includes(file)

it.each<[string, string, string]>([
  ['a line of 121 characters', `${'word '.repeat(24)}x`, 'docs/a.md:1 has 121 characters'],
  ['a link to a missing file', '[b](b.md)', 'docs/a.md links to docs/b.md, which does not exist'],
  ['an image that is missing', '![b](b.svg)', 'links to docs/b.svg'],
  ['a link out of the repository', '[b](../../b.md)', 'which does not exist'],
  ['an anchor without a heading', '## Here\n[b](#there)', 'docs/a.md links to docs/a.md#there: no such heading'],
  ["an anchor of another page's", '[b](../README.md#gone)', 'README.md#gone: no such heading'],
  ['a link whose text is code', '[`b`](b.md)', 'links to docs/b.md'],
])('the docs check reports %s', (_, page, problem) => {
  expect(problemsIn({ 'README.md': '# R', 'docs/a.md': page }, known).join('\n')).toContain(problem)
})

it.each<[string, string]>([
  ['a line of 120 characters', 'x'.repeat(60) + ' ' + 'y'.repeat(59)],
  ['a URL that cannot be broken', `https://example.com/${'x'.repeat(120)}`],
  ['links in code', '```md\n[b](b.md)\n```\nand `[b](b.md)`'],
  ['addresses', '[b](https://example.com/b.md#x)'],
  [
    'anchors of headings with code, the second of a name too',
    '## `/here` it\n## `/here` it\n[a](#here-it) [b](#here-it-1)',
  ],
  ['a heading in another page', '[b](../README.md#r) ![p](pic.svg)'],
])('the docs check accepts %s', (_, page) => {
  expect(problemsIn({ 'README.md': '# R', 'docs/a.md': page }, known)).toEqual([])
})

it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'AGENTS.md', 'docs/contributing/recipes.md'])(
  '%s names files and folders that exist',
  (page) => {
    const text = readFileSync(path.join(ROOT, page), 'utf8').replaceAll(/^```[^]*?^```/gm, '')
    const paths = Array.from(text.matchAll(/`((?:\.?[a-z][\w-]*\/)[\w./-]*)`/g), ([, found]) => found)
    // Build output, and methods of MCP.
    const files = paths.filter((file) => !file.startsWith('dist/') && !/^tools\/(list|call)$/.test(file))
    expect(files).not.toHaveLength(0)
    expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([])
  },
)

it.each([
  ['// ', 1],
  ['  /** ', 1],
  ['   * ', 1],
  ['# ', 1],
  ['const x = ', 0],
])('the docs check reports a comment of 130 characters, and no code: %j', (start, count) => {
  const text = `a\n${start}${'word '.repeat(26)}\n`
  expect(longComments('a.ts', text)).toHaveLength(count)
  expect(longComments('a.ts', text.replaceAll('word', 'w'))).toEqual([])
})

it('the docs check reports words of the table in CONTRIBUTING.md, outside of code', () => {
  const dialect = dialectOf('## Words\n\nNot these:\n\n| Not | But |\n|---|---|\n| wall, hearer | isolation |\n')
  const found = dialectIn('docs/a.md', 'A `wall`.\n\n```\nwall\n```\nTwo Walls, one wall.\n', dialect)
  expect(found).toEqual(['docs/a.md:6 says "wall"; write isolation'])
  expect(dialectOf(readFileSync(path.join(ROOT, 'CONTRIBUTING.md'), 'utf8')).length).toBeGreaterThan(10)
})

it('the docs check reports the same words in messages of code, and not in comments or names', () => {
  const dialect = [{ word: 'wall', instead: 'isolation' }]
  const code = "// It fails at a wall.\nconst wall = 'wall'\nsay('It fails at a wall')\nsay(`at ${wall} it fails`)\n"
  expect(dialectInMessages('a.ts', code, dialect)).toEqual(['a.ts:3 says "wall"; write isolation'])
})
