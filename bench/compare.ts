// `npm run bench -- --compare REF [--runs N] [SECTION …]`: builds another commit and measures it and this tree
// alternately, with this tree's bench. Each run is a separate process, because V8 optimises the same code differently
// each time.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './measure.ts'
import type { BenchRow } from './row.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface ComparedRow {
  name: string
  before: string
  now: string
}

export function compare(ref: string, sections: readonly string[], runs: number): ComparedRow[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-compare-'))
  const other = path.join(folder, 'tree')
  execFileSync('git', ['worktree', 'add', '--detach', other, ref], { cwd: ROOT, stdio: 'ignore' })
  try {
    install(other)
    execFileSync('npm', ['run', 'build', '--silent'], { cwd: other, stdio: 'inherit' })
    const packages = readdirSync(path.join(other, 'packages')).map((name) => `packages/${name}`)
    for (const rows of ['.', ...packages].map((name) => path.join(name, 'bench'))) {
      rmSync(path.join(other, rows), { recursive: true, force: true })
      if (existsSync(path.join(ROOT, rows))) cpSync(path.join(ROOT, rows), path.join(other, rows), { recursive: true })
    }
    const trees = [other, ROOT]
    const measured = new Map<string, BenchRow[][]>(trees.map((tree) => [tree, []]))
    for (let run = 0; run < runs; run += 1) {
      // Neither side is always first.
      for (const tree of run % 2 === 0 ? trees : trees.toReversed()) {
        measured.get(tree)!.push(runBench(tree, sections, path.join(folder, 'rows.json')))
      }
    }
    return sideBySide(measured.get(other)!, measured.get(ROOT)!)
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', other], { cwd: ROOT })
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Links what this tree has installed, and the other tree's own packages. */
function install(tree: string): void {
  const modules = path.join(tree, 'node_modules')
  mkdirSync(path.join(modules, '@sandbridge'), { recursive: true })
  for (const name of readdirSync(path.join(ROOT, 'node_modules')))
    if (name !== '@sandbridge') symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name), 'junction')
  for (const name of readdirSync(path.join(tree, 'packages')))
    symlinkSync(path.join(tree, 'packages', name), path.join(modules, '@sandbridge', name), 'junction')
}

function runBench(tree: string, sections: readonly string[], file: string): BenchRow[] {
  const args = ['--import', 'tsx', 'bench/main.ts', '--rows', file, ...sections]
  // The exit code is 1 when a goal is missed; the rows report that.
  spawnSync(process.execPath, args, { cwd: tree, stdio: ['ignore', 'ignore', 'inherit'] })
  if (!existsSync(file)) throw new Error(`The benchmark of ${tree} ended early: its error is above.`)
  const { results } = JSON.parse(readFileSync(file, 'utf8')) as { results: Record<string, BenchRow[]> }
  rmSync(file)
  return Object.values(results).flat()
}

function sideBySide(before: BenchRow[][], now: BenchRow[][]): ComparedRow[] {
  const names = [...new Set([...before, ...now].flatMap((rows) => rows.map(({ name }) => name)))]
  return names.map((name) => ({ name, before: middleOf(before, name), now: middleOf(now, name) }))
}

const NUMBER = /-?\d+(?:\.\d+)?/g

/** A row's value, with each number replaced by its median over the runs. */
function middleOf(runs: BenchRow[][], name: string): string {
  const values = runs.flatMap((rows) => rows.find((row) => row.name === name)?.value ?? [])
  const numbers = values.map((value) => value.match(NUMBER) ?? [])
  const [first] = values
  if (first === undefined) return ''
  let at = 0
  return first.replace(NUMBER, (shown) => {
    const all = numbers.map((one) => Number(one[at]))
    at += 1
    const decimals = shown.split('.')[1]?.length ?? 0
    return all.every(Number.isFinite) ? median(all).toFixed(decimals) : shown
  })
}
