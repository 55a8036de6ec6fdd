// `npm run check:packages`: what layers.txt cannot say. A package imports the core, and others only where the drawing
// in ARCHITECTURE.md says so; its tests import these, and what these use. The core imports no package, and its tests
// the product's list alone; packages/sandbridge may import all; each imports only dependencies that its package.json
// names. The core has few doors, and each is used. Each README names the command of its tests. Prints how many files it
// looked at and what it found. Exit code 1 when it found anything, or no file.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '../..')
/** Which package uses which other one, by ARCHITECTURE.md's drawing. */
const MAY = drawnIn(readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8'))
/** What tests may use beside: the pods of a made-up cluster are bubblewrap's. */
const TESTS_MAY = { kubernetes: ['bubblewrap'] }
/** What tests of any package may import: a build without a package lacks its line. */
const LIST = '@sandbridge/sandbridge/packages.ts'
/** What packages share: any may use it. */
const SHARED = 'shared'
/** The entries of the core's package.json, without that for tests. */
const MAX_DOORS = 60
const core = JSON.parse(readFileSync(path.join(ROOT, 'packages/core/package.json'), 'utf8'))
const doors = Object.keys(core.exports).filter((door) => door !== './test/*')
const used = new Set()
const arrows = new Set()
const found =
  doors.length > MAX_DOORS ? [`packages/core/package.json: ${doors.length} exports, at most ${MAX_DOORS}`] : []
let looked = 0
let tests = 0
for (const name of readdirSync(path.join(ROOT, 'packages'))) {
  const folder = path.join(ROOT, 'packages', name)
  const readme = path.join(folder, 'README.md')
  const test = `\`npm test -w packages/${name}\``
  if (!existsSync(readme) || !readFileSync(readme, 'utf8').includes(test))
    found.push(`packages/${name}/README.md: does not name ${test}`)
  if (!MAY.has(name) && !['core', 'sandbridge', SHARED].includes(name))
    found.push(`packages/${name}: not in the drawing of ARCHITECTURE.md`)
  const { devDependencies = {}, dependencies = {} } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  )
  const declared = { ...dependencies, ...devDependencies }
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(ts|tsx|mjs)$/.test(file) || /(^|\/)node_modules\//.test(file)) continue
    const whole = `packages/${name}/${file}`
    looked += 1
    const isTest = /^(test|bench)\/|(\.test|vitest\.config)\.ts$/.test(file)
    const text = readFileSync(path.join(folder, file), 'utf8')
    tests += Number(isTest)
    const beside = isTest ? [...reachedFrom(name), ...(TESTS_MAY[name] ?? [])] : (MAY.get(name) ?? [])
    const given = name === 'core' ? [name] : [name, 'core', SHARED, ...beside]
    const mayUse = (other) => name === 'sandbridge' || given.includes(other)
    for (const [, from, bare, lazy] of text.matchAll(
      /^(?:import|export)\b[^'";]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
    )) {
      const spec = from ?? bare ?? lazy
      if (spec.includes('$')) continue
      if (spec.startsWith('.')) {
        const target = path.posix.join(path.posix.dirname(whole), spec)
        const [, of] = /^packages\/([\w-]+)\//.exec(target) ?? []
        if (of !== name && !(isTest && (of === undefined || mayUse(of))))
          found.push(`${whole}: leaves its package by ${spec}`)
        continue
      }
      const other = /^@sandbridge\/([\w-]+)/.exec(spec)?.[1]
      if (other === 'core' && !isTest) used.add(spec.replace('@sandbridge/core', '.'))
      if (other !== undefined) {
        if (!existsSync(path.join(ROOT, 'packages', other)))
          found.push(`${whole}: ${spec}, and there is no such package`)
        if (!isTest) arrows.add(`${name}─▶${other}`)
        if (!mayUse(other) && !(isTest && spec === LIST))
          found.push(`${whole}: ${name} ${isTest ? 'and its tests ' : ''}may not import ${spec}`)
        if (other === 'core' && spec.includes('/test/') && !isTest) found.push(`${whole}: the program imports ${spec}`)
        continue
      }
      const dependency = /^(?:@[^/]+\/)?[^/]+/.exec(spec)?.[0]
      const isTool = ['vitest', 'pyodide', 'rolldown', 'vite', 'playwright-core'].includes(dependency)
      if (!spec.startsWith('node:') && !builtinModules.includes(dependency) && !isTool && !(dependency in declared))
        found.push(`${whole}: ${dependency} is not in packages/${name}/package.json`)
    }
  }
}
// Rows of a package lie in it, and go with it. The arena plays what the package direct lists, too.
for (const folder of ['bench', 'packages/core/bench'])
  for (const file of readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.startsWith('arena')) continue
    const text = readFileSync(path.join(ROOT, folder, file), 'utf8')
    for (const [, spec] of text.matchAll(/(?:from |import\()'([^']+)'/g)) {
      const place = spec.startsWith('.') ? path.posix.join(folder, path.posix.dirname(file), spec) : spec
      const other = /^(?:@sandbridge|packages)\/(?!core\/|sandbridge\/)([\w-]+)\//.exec(place)?.[1]
      if (other !== undefined) found.push(`${folder}/${file}: rows about ${other} lie in packages/${other}/bench`)
    }
  }
for (const door of doors)
  if (!used.has(door)) found.push(`packages/core/package.json: no package uses the export ${door}`)
for (const [name, others] of MAY)
  for (const other of others)
    if (existsSync(path.join(ROOT, 'packages', name)) && !arrows.has(`${name}─▶${other}`))
      found.push(`ARCHITECTURE.md draws ${name}─▶${other}, which nothing imports`)
for (const line of found) process.stdout.write(`${line}\n`)
process.stdout.write(`check:packages looked at ${looked} files, ${tests} of them tests, and ${doors.length} doors\n`)
process.exitCode = found.length > 0 || looked === 0 || tests === 0 ? 1 : 0

/** @returns {string[]} the packages that this one uses, and those that they use */
function reachedFrom(name) {
  return (MAY.get(name) ?? []).flatMap((other) => [other, ...reachedFrom(other)])
}

/** @returns {Map<string, string[]>} of each package in the drawing, those that its arrow names */
function drawnIn(page) {
  const [, drawing = ''] = /^## The packages\n[^]*?```text\n([^]*?)```/m.exec(page) ?? []
  const words = drawing.split('\n').flatMap((line) => /^[a-z ]{9}  ([a-z].*)/.exec(line)?.[1].split(/ +/) ?? [])
  return new Map(words.map((word) => word.split('─▶')).map(([name, others]) => [name, others?.split(',') ?? []]))
}
