// `npm run check:docs`: checks the line length of README.md, the other pages at the root and docs/, every relative link
// and anchor in them, the words of CONTRIBUTING.md, and the line length of comments in code. Prints one line per
// problem. Exit code 1 when there is any.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MAX_LENGTH = 120
/** A row of a table cannot be broken. */
const MAX_ROW_LENGTH = 160
/** A line with a longer word, such as a URL, may exceed the limit. */
const MAX_WORD_LENGTH = 100

/** @returns {string[]} paths of all pages, relative to the root */
export function listPages(root = ROOT) {
  const docs = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((file) => `docs/${file}`)
  const ofPackages = readdirSync(path.join(root, 'packages')).flatMap((name) =>
    readdirSync(path.join(root, 'packages', name)).map((file) => `packages/${name}/${file}`),
  )
  return [...readdirSync(root), ...docs, ...ofPackages]
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.replaceAll('\\', '/'))
}

/**
 * @param {Record<string, string>} pages path → text
 * @param {(file: string) => boolean} exists whether a path below the root is a file or folder
 * @returns {string[]} one sentence per problem
 */
export function problemsIn(pages, exists) {
  return Object.entries(pages).flatMap(([page, text]) => [
    ...longLines(page, text),
    ...brokenLinks(page, text, pages, exists),
  ])
}

/** @returns {string[]} one sentence for each comment line of TypeScript, JavaScript or Python that is too long */
export function longComments(file, text) {
  const code = text.replaceAll(/^(?![ \t]*(?:\/\/|\/?\*|#)).*$/gm, '')
  return longLines(file, code)
}

/** @returns {{ word: string, instead: string }[]} the table under "Words" of CONTRIBUTING.md */
export function dialectOf(contributing) {
  const [, table = ''] = /^## Words\n[^]*?\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(contributing) ?? []
  return Array.from(table.matchAll(/^\| (.+) \| (.+) \|$/gm)).flatMap(([, words, instead]) =>
    words.split(', ').map((word) => ({ word, instead })),
  )
}

/** @returns {string[]} one sentence for each word of the dialect in a page, outside of its code */
export function dialectIn(page, text, dialect) {
  const lines = text.replaceAll(/^```[^]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, '')).split('\n')
  return lines.flatMap((line, index) =>
    dialect
      .filter(({ word }) => new RegExp(`\\b${word}\\b`, 'i').test(line.replaceAll(/`[^`]*`|\]\([^)]*\)/g, '')))
      .map(({ word, instead }) => `${page}:${index + 1} says "${word}"; write ${instead}`),
  )
}

/** In the tool's description, which models know. */
const KEPT_IN_CODE = new Set(['wording', 'wordings'])

/** @returns {string[]} one sentence for each word of the dialect in a text of TypeScript with at least three words */
export function dialectInMessages(file, code, dialect) {
  const heard = dialect.filter(({ word }) => !KEPT_IN_CODE.has(word))
  return code.split('\n').flatMap((line, index) => {
    if (/^\s*(?:\/\/|\/?\*)/.test(line)) return []
    const texts = Array.from(line.matchAll(/(['"`])((?:\\.|(?!\1)[^\\])*)\1/g), ([, , text]) => text)
    return texts
      .filter((text) => text.split(' ').length > 2 && /[A-Z.:,]|^the /.test(text))
      .flatMap((text) =>
        heard.filter(({ word }) => new RegExp(`\\b${word}\\b`, 'i').test(text.replaceAll(/\$\{[^}]*\}/g, ''))),
      )
      .map(({ word, instead }) => `${file}:${index + 1} says "${word}"; write ${instead}`)
  })
}

/** Pages whose readers use Sandbridge, or begin to change it. */
const FOR_READERS = /^(?!CHANGELOG|CONTRIBUTING|docs\/decisions\/)/

function longLines(page, text) {
  return text.split('\n').flatMap((line, index) => {
    const limit = line.startsWith('|') ? MAX_ROW_LENGTH : MAX_LENGTH
    const isLong = line.length > limit && line.split(/\s+/).every((word) => word.length <= MAX_WORD_LENGTH)
    return isLong ? [`${page}:${index + 1} has ${line.length} characters; the limit is ${limit}`] : []
  })
}

function brokenLinks(page, text, pages, exists) {
  return linksIn(text).flatMap((link) => {
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? page : path.posix.join(path.posix.dirname(page), file)
    if (target.startsWith('..') || !exists(target)) return [`${page} links to ${target}, which does not exist`]
    if (anchor === undefined || !(target in pages)) return []
    return anchorsOf(pages[target]).has(anchor) ? [] : [`${page} links to ${target}#${anchor}: no such heading`]
  })
}

/** Targets of links and images that are files of the repository. */
export function linksIn(text) {
  const links = withoutCode(text).matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)|(?:src|href)="([^"]+)"/g)
  return Array.from(links, ([, markdown, html]) => markdown ?? html).filter((link) => !/^[a-z]+:/.test(link))
}

/** The anchors that GitHub generates for headings. */
export function anchorsOf(text) {
  const seen = new Map()
  const slugs = Array.from(withoutFences(text).matchAll(/^#{1,6} +(.*?) *$/gm), ([, heading]) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
  return new Set(slugs)
}

const withoutFences = (text) => text.replaceAll(/^```[^]*?^```/gm, '')
const withoutCode = (text) => withoutFences(text).replaceAll(/`[^`\n]*`(?!\]\()/g, '')

function main() {
  const pages = Object.fromEntries(listPages().map((page) => [page, readFileSync(path.join(ROOT, page), 'utf8')]))
  const problems = problemsIn(pages, (file) => existsSync(path.join(ROOT, file)))
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  const code = tracked
    .toString()
    .split('\n')
    .filter((file) => /\.(ts|tsx|mjs|js|py)$/.test(file) && existsSync(path.join(ROOT, file)))
  problems.push(...code.flatMap((file) => longComments(file, readFileSync(path.join(ROOT, file), 'utf8'))))
  const dialect = dialectOf(pages['CONTRIBUTING.md'])
  if (dialect.length === 0) problems.push('CONTRIBUTING.md has no table under "Words"')
  for (const [page, text] of Object.entries(pages))
    if (FOR_READERS.test(page)) problems.push(...dialectIn(page, text, dialect))
  for (const file of code.filter((one) => /^packages\/[^/]+\/(?:src|web)\/(?!.*\.test\.).*\.tsx?$/.test(one)))
    problems.push(...dialectInMessages(file, readFileSync(path.join(ROOT, file), 'utf8'), dialect))
  if (code.length === 0) problems.push('git lists no code')
  if (!linksIn(pages['README.md']).includes('docs/guide.md')) problems.push('README.md does not link docs/guide.md')
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  process.stdout.write(`check-docs.mjs looked at ${Object.keys(pages).length} pages and ${code.length} files of code\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
