// `npm run check:layers`: checks the imports of src/ against scripts/check/layers.txt, and that files that call
// themselves pure are pure. Prints every import that the table does not allow, unused rows, and cycles of layers.
// Exit code 1 when there is any.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TABLE = 'scripts/check/layers.txt'
/** What a pure file may import from Node, by module: no I/O, no process, no clock. */
const PURE_NAMES = {
  'node:buffer': true,
  'node:crypto': ['createHash', 'hash'],
  'node:net': ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'],
  'node:os': ['constants'],
  'node:path': true,
  'node:path/posix': true,
  'node:util': true,
  'node:zlib': true,
}

/**
 * @returns {Map<string, { pure: boolean, may: Set<string>, packages: Set<string>, private: boolean }>} by folder or
 * file
 */
export function readTable(text) {
  const layers = new Map()
  for (const line of text.split('\n')) {
    const row = line.replace(/#.*/, '').trim()
    if (row === '') continue
    const [, name, words] = /^(\S+)\s*:\s*(.*)$/.exec(row) ?? fail(`${TABLE} has a row that is not "layer: …": ${row}`)
    const list = words.split(/\s+/).filter(Boolean)
    layers.set(name, {
      pure: list.includes('(pure)'),
      may: new Set(list.filter((word) => !/^[(@]/.test(word))),
      packages: new Set(list.filter((word) => word.startsWith('@'))),
    })
  }
  return layers
}

/** @param files path below src/ → text. @returns one sentence per violation */
export function violations(files, layers) {
  const owned = new Set([...layers.values()].flatMap((layer) => [...layer.packages]))
  const found = []
  const used = new Map()
  const names = [...layers.keys()].toSorted((a, b) => b.length - a.length)
  const layerOf = (file) => names.find((name) => file === name || file.startsWith(`${name}/`))
  const isPure = (file) =>
    layers.get(layerOf(file))?.pure || /^(?:\/\/.*\n)*?\/\/.*\bPure\.$/m.test(head(files.get(file)))
  for (const [file, text] of files) {
    const own = layerOf(file)
    if (own === undefined) {
      found.push(`${file}: no row of ${TABLE} names its folder`)
      continue
    }
    for (const { from, isType, names: taken } of imports(text)) {
      if (!from.startsWith('.')) {
        const name = [...owned].find((owner) => from === owner || from.startsWith(`${owner}/`))
        if (name && !isType && !layers.get(own).packages.has(name)) found.push(`${file}: ${own} does not use ${name}`)
        const allowed = PURE_NAMES[from] ?? []
        const isAllowed = allowed === true || (taken.length > 0 && taken.every((one) => allowed.includes(one)))
        if (isPure(file) && from.startsWith('node:') && !isType && !isAllowed) {
          found.push(`${file}: is pure and imports ${from}`)
        }
        continue
      }
      const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), from))
      const to = layerOf(target)
      if (to === undefined) continue
      if (to !== own) {
        used.set(own, (used.get(own) ?? new Set()).add(to))
        if (!layers.get(own).may.has(to)) found.push(`${file}: ${own} does not import ${to} (${target})`)
      }
      if (isPure(file) && !isType && files.has(target) && !isPure(target)) {
        found.push(`${file}: is pure and imports ${target}, which is not`)
      }
    }
  }
  for (const [name, layer] of layers) {
    for (const to of layer.may) {
      if (!layers.has(to)) found.push(`${TABLE}: ${name} may import ${to}, which has no row`)
      else if (!used.get(name)?.has(to)) found.push(`${TABLE}: ${name} may import ${to} and does not`)
    }
  }
  return [...found, ...cycles(layers).map((cycle) => `${TABLE}: a cycle: ${cycle.join(' → ')}`)]
}

const head = (text) => /^(?:\/\/.*\n)*/.exec(text)[0]

function* imports(text) {
  for (const [, type, names, from] of text.matchAll(
    /^(?:import|export)( type)?\s+(?:([^'"]*?)\s+from\s+)?'([^']+)'/gm,
  )) {
    const all = names?.startsWith('{')
      ? names
          .slice(1, -1)
          .split(',')
          .filter((name) => name.trim() !== '')
      : []
    const isType = type !== undefined || (all.length > 0 && all.every((name) => /^\s*type\s/.test(name)))
    yield {
      from,
      isType,
      names: all.filter((name) => !/^\s*type\s/.test(name)).map((name) => name.trim().split(/\s/)[0]),
    }
  }
  for (const [, from] of text.matchAll(/\bimport\('([^']+)'\)/g)) yield { from, isType: false, names: [] }
}

function cycles(layers) {
  const done = new Set()
  const found = []
  const visit = (name, trail) => {
    if (trail.includes(name)) found.push([...trail.slice(trail.indexOf(name)), name])
    if (done.has(name) || trail.includes(name)) return
    for (const to of layers.get(name)?.may ?? []) visit(to, [...trail, name])
    done.add(name)
  }
  for (const name of layers.keys()) visit(name, [])
  return found
}

function fail(message) {
  throw new Error(message)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'packages/core/src'], {
    cwd: root,
    encoding: 'utf8',
  })
  // A file that was just deleted is still listed.
  const names = listed
    .split('\n')
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && existsSync(path.join(root, file)))
  const files = new Map(
    names.map((file) => [file.slice('packages/core/src/'.length), readFileSync(path.join(root, file), 'utf8')]),
  )
  const found = violations(files, readTable(readFileSync(path.join(root, TABLE), 'utf8')))
  for (const line of found) process.stderr.write(`${line}\n`)
  process.stdout.write(`${path.basename(process.argv[1])} looked at ${names.length} files\n`)
  process.exitCode = found.length > 0 || names.length === 0 ? 1 : 0
}
