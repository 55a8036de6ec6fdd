// `npm run mutate`: changes single places of src/ and python/, drawn at random but always the same ones, and asks which
// tests notice. Its table shows whether the first tier (`npm test`) catches most of what the whole suite catches:
// choose the tags of tests by it.
//
//     npm run mutate -- [--count 150] [--seed 1] [--steps 2] [--minutes 60] [--folder FOLDER]
//
// FOLDER holds a copy of what is committed, in which it works, and results.jsonl, from which it goes on after an end.
// All mutations take the first of the steps in judge.mjs before those that it missed take the second: --steps says how
// many, --minutes how long. The last two cost minutes for each mutation.
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { candidatesOf } from './candidates.mjs'
import { judge, STEPS } from './judge.mjs'
import { printTable } from './table.mjs'

const ROOT = path.join(import.meta.dirname, '../..')
const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: String(STEPS.length) },
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
const mutations = draw(Number(options.count), Number(options.seed))
const judged = existsSync(results)
  ? readFileSync(results, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  : []
const isJudged = (id, step) => judged.some((one) => one.id === id && (one.step === step || one.caught))

for (const step of STEPS.slice(0, Number(options.steps))) {
  for (const mutation of mutations) {
    if (isJudged(mutation.id, step.name)) continue
    if (Date.now() > end) break
    const caught = await judge(step, mutation.file, copy, changeOf(mutation))
    const result = { id: mutation.id, step: step.name, tier: step.tier, caught }
    judged.push(result)
    appendFileSync(results, `${JSON.stringify(result)}\n`)
    say(`${step.name}: ${mutation.id}: ${caught ?? 'missed'}`)
  }
}
printTable(mutations, judged)

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
