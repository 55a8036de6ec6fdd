// `npm run mutate`: changes single places of src/ and python/, drawn at random but always the same ones, and asks which
// tests notice. Its table shows whether the first tier (`npm test`) catches most of what the whole suite catches:
// choose the tags of tests by it.
//
//     npm run mutate -- [--count 150] [--seed 1] [--tiers 2] [--minutes 60] [--folder FOLDER]
//
// FOLDER holds a copy of what is committed, in which it works, and what was found, from which it goes on after an end.
// The first tier judges all mutations, then what it leaves out judges those that it missed. Each tier runs once
// without a mutation, to see which test files run which place. Linux only.
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { candidatesOf } from './candidates.mjs'
import { namedTests } from '../test/named-tests.mjs'
import { judge } from './judge.mjs'
import { testsThatRun } from './record.mjs'
import { printTable, TIERS } from './table.mjs'

const ROOT = path.join(import.meta.dirname, '../..')
const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
    tiers: { type: 'string', default: String(TIERS.length) },
    minutes: { type: 'string', default: 'Infinity' },
    folder: { type: 'string', default: path.join(tmpdir(), 'sandbridge-mutations') },
  },
})
const copy = path.join(options.folder, 'copy')
const results = path.join(options.folder, 'results.jsonl')
const end = Date.now() + Number(options.minutes) * 60_000
const say = (line) => process.stdout.write(`${line}\n`)

if (!existsSync(path.join(copy, 'dist'))) makeCopy()
// What an earlier run was in the middle of.
execFileSync('git', ['checkout', '--quiet', '.'], { cwd: copy })
const tests = execFileSync('git', ['ls-files', '*.test.ts'], { cwd: copy, encoding: 'utf8' }).trim().split('\n')
const mutations = draw(Number(options.count), Number(options.seed))
const judged = existsSync(results)
  ? readFileSync(results, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  : []
for (const { name: tier, filter } of TIERS.slice(0, Number(options.tiers))) {
  const open = mutations.filter(({ id }) => !judged.some((one) => one.id === id && (one.tier === tier || one.caught)))
  if (open.length === 0 || Date.now() > end) continue
  const runs = await recorded(tier, filter)
  for (const mutation of open) {
    if (Date.now() > end) break
    const caught = await judge(testsFor(mutation, runs), filter, copy, changeOf(mutation))
    const result = { id: mutation.id, tier, caught }
    judged.push(result)
    appendFileSync(results, `${JSON.stringify(result)}\n`)
    say(`${tier}: ${mutation.id}: ${caught ?? 'missed'}`)
  }
}
printTable(mutations, judged)

async function recorded(tier, filter) {
  const file = path.join(options.folder, `${tier.replace(' ', '-')}-${options.count}.json`)
  if (!existsSync(file)) {
    const found = await testsThatRun(mutations, filter, copy, path.join(options.folder, 'probes'))
    writeFileSync(file, JSON.stringify(found))
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}

/**
 * Those that run its place, of which the first run the fewest others; then those that are about it by their names. Of
 * Python, where no probe says who runs it, those that start kernels.
 */
function testsFor({ id, file }, runs) {
  const named = namedTests([file], tests)
  if (runs[id] === undefined) {
    const core = ['kernel', 'attacks', 'contract', 'e2e'].map((name) => `packages/core/test/${name}/`)
    const folders = [...core, 'packages/native/test/', 'packages/bubblewrap/test/', 'test/attacks/']
    return [...new Set([...named, ...folders.flatMap((folder) => tests.filter((test) => test.startsWith(folder)))])]
  }
  const others = (test) => Object.values(runs).filter((some) => some.includes(test)).length
  return [...new Set([...runs[id].toSorted((a, b) => others(a) - others(b)), ...named])]
}

function makeCopy() {
  mkdirSync(options.folder, { recursive: true })
  const commands = [
    ['git', 'clone', '--quiet', ROOT, copy],
    ['npm', 'ci', '--prefix', copy, '--prefer-offline', '--no-audit', '--no-fund'],
    ['npm', 'run', 'build', '--silent', '--prefix', copy],
  ]
  for (const [command, ...args] of commands) {
    const { status } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' })
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.`)
  }
}

function draw(count, seed) {
  const files = execFileSync('git', ['ls-files'], { cwd: copy, encoding: 'utf8' }).split('\n')
  const typescript = files.filter((file) => /(?:^|\/)src\/.*\.ts$/.test(file) && !/\.(?:test|d)\.ts$/.test(file))
  const python = files.filter((file) => /(?:^|\/)python\/.*\.py$/.test(file) && !/(?:^|\/)tests?\//.test(file))
  const all = [
    ...typescript.map((file) => ({ file, found: candidatesOf(readFileSync(path.join(copy, file), 'utf8')) })),
    ...candidatesOfPython(python).map((found, index) => ({ file: python[index], found })),
  ].flatMap(({ file, found }) => found.map((one) => ({ file, ...one })))
  const random = mulberry32(seed)
  return Array.from({ length: count }, () => {
    const { file, ...change } = all.splice(Math.floor(random() * all.length), 1)[0]
    const line = readFileSync(path.join(copy, file), 'utf8').slice(0, change.start).split('\n').length
    return { id: `${file}:${line}: ${change.operator} (${change.start})`, file, ...change }
  })
}

function candidatesOfPython(files) {
  const script = path.join(import.meta.dirname, 'candidates.py')
  const input = JSON.stringify(files)
  return JSON.parse(execFileSync('python3', [script], { cwd: copy, input, encoding: 'utf8', maxBuffer: 2 ** 28 }))
}

function changeOf({ file, start, end: after, text }) {
  const place = path.join(copy, file)
  const original = readFileSync(place, 'utf8')
  return {
    mutate: () => writeFileSync(place, original.slice(0, start) + text + original.slice(after)),
    restore: () => writeFileSync(place, original),
  }
}

/** A generator with a seed, which Math.random has not. */
function mulberry32(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
