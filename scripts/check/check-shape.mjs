// Part of `npm run check:layers`: no circle of imports between files of src/ or of python/, no folder of src/ with too
// many files, few files of the core outside of its rooms, and the core within its size. Prints what it finds. Exit code
// 1 when there is anything.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CORE = 'packages/core/src'
const MAX_FILES = 15
const MAX_LOOSE = 3
/** The core is a small product: what it can do without belongs to a package. Lines of TypeScript, without tests. */
const MAX_CORE = { lines: 37_000, files: 400, rooms: 9, dependencies: 25 }

/**
 * Files that import each other, types and lazy imports included: what two files need belongs to one of them or to a
 * third.
 * @param {Map<string, string>} files path → text, of TypeScript and Python
 * @returns {string[][]} the files of each circle
 */
export function circles(files) {
  const edges = new Map()
  for (const [file, text] of files) {
    const named = file.endsWith('.py') ? namedInPython(file, text) : namedInTypeScript(file, text)
    edges.set(file, new Set(named.filter((target) => files.has(target) && target !== file)))
  }
  return componentsOf(edges).filter((component) => component.length > 1)
}

function namedInTypeScript(file, text) {
  const statements = text.matchAll(
    /^(?:import|export)\b[^'";]*?\bfrom\s+'(\.[^']+)'|^import\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  )
  return [...statements].map(([, ...found]) => path.posix.join(path.posix.dirname(file), found.find(Boolean)))
}

/** `from ..api import errors` names both `api` and, if there is such a file, `api/errors`. */
function namedInPython(file, text) {
  const statements = text.matchAll(/^[ \t]*from (\.+)([\w.]*) import (?:\(([^)]*)\)|(.*))/gm)
  return [...statements].flatMap(([, dots, module, inBrackets, onLine]) => {
    const base = path.posix.join(path.posix.dirname(file), '../'.repeat(dots.length - 1), module.replaceAll('.', '/'))
    const members = (inBrackets ?? onLine).split(',').map((name) => name.replace(/#.*|\bas\b.*/g, '').trim())
    const modules = members.filter(Boolean).map((name) => path.posix.join(base, `${name}.py`))
    // A package's own file stands for what is not a module of it.
    return [...modules, `${base}.py`, ...(module === '' ? [] : [`${base}/__init__.py`])]
  })
}

/** Tarjan's strongly connected components. */
function componentsOf(edges) {
  const index = new Map()
  const lowest = new Map()
  const stack = []
  const found = []
  const visit = (node) => {
    index.set(node, index.size)
    lowest.set(node, index.get(node))
    stack.push(node)
    for (const next of edges.get(node)) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node), lowest.get(next)))
    }
    if (lowest.get(node) === index.get(node)) found.push(stack.splice(stack.indexOf(node)))
  }
  for (const node of edges.keys()) if (!index.has(node)) visit(node)
  return found
}

/** @param {string[]} files paths, without tests. @returns {string[]} one sentence for each folder that is too full */
export function crowded(files) {
  const counts = new Map()
  for (const file of files) {
    const { dir, base } = path.posix.parse(file)
    if (base !== 'index.ts') counts.set(dir, (counts.get(dir) ?? 0) + 1)
  }
  const loose = files.filter((file) => path.posix.dirname(file) === CORE)
  return [
    ...[...counts]
      .filter(([, count]) => count > MAX_FILES)
      .map(([folder, count]) => `${folder} has ${count} files; at most ${MAX_FILES}, not counting tests and its door`),
    ...(loose.length > MAX_LOOSE
      ? [`${CORE} has ${loose.length} files outside of its rooms: ${loose.join(', ')}`]
      : []),
  ]
}

/**
 * @param {Map<string, string>} files path → text of TypeScript, without tests
 * @param {string[]} dependencies names
 * @returns {string[]} one sentence for each limit that the core exceeds
 */
export function oversized(files, dependencies, limits = MAX_CORE) {
  const own = [...files].filter(([file]) => file.startsWith(`${CORE}/`) && file.endsWith('.ts'))
  const inRooms = own.map(([file]) => path.posix.relative(CORE, file).split('/')).filter((parts) => parts.length > 1)
  const sizes = {
    lines: own.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0),
    files: own.length,
    rooms: new Set(inRooms.map(([room]) => room)).size,
    dependencies: dependencies.length,
  }
  return Object.entries(limits)
    .filter(([what, limit]) => sizes[what] > limit)
    .map(([what, limit]) => `packages/core has ${sizes[what]} ${what}; at most ${limit}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', 'packages/*/src/*', 'packages/core/python']
  const listed = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  // A file that was just deleted is still listed.
  const names = listed.filter((file) => existsSync(path.join(root, file)))
  const code = names.filter((file) => /\.(ts|py)$/.test(file) && !/\.test\.ts$|\/python\/tests\//.test(file))
  const text = new Map(code.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]))
  const core = JSON.parse(readFileSync(path.join(root, 'packages/core/package.json'), 'utf8'))
  const found = [
    ...circles(text).map((circle) => `a circle of imports: ${circle.toSorted().join(', ')}`),
    ...crowded(names.filter((file) => /^packages\/[^/]+\/src\//.test(file) && !file.endsWith('.test.ts'))),
    ...oversized(text, Object.keys({ ...core.dependencies, ...core.devDependencies })),
  ]
  for (const line of found) process.stderr.write(`${line}\n`)
  process.stdout.write(`${path.basename(process.argv[1])} looked at ${code.length} files\n`)
  process.exitCode = found.length > 0 || code.length === 0 ? 1 : 0
}
