// Which test files run the place of each mutation, seen in one run of a tier with probes in the copy. Linux only: a
// probe finds its test by the parents of its process.
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runTool } from './run-tool.mjs'

const SETUP = 'packages/core/test/support/suite/after-each.ts'
const LIMIT_MS = 3_600_000

/** @returns the test files for the id of each mutation, but of Python, in which there are no probes */
export async function testsThatRun(mutations, filter, copy, folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o777 })
  const probed = mutations.filter(({ block }) => block !== undefined)
  for (const file of new Set(probed.map((one) => one.file))) {
    const place = path.join(copy, file)
    writeFileSync(place, withProbes(readFileSync(place, 'utf8'), file, mutations, folder))
  }
  const noted = [
    `import { writeFileSync } from 'node:fs'`,
    `import { expect } from 'vitest'`,
    `writeFileSync(\`${folder}/\${process.pid}\`, expect.getState().testPath ?? '')`,
  ]
  appendFileSync(path.join(copy, SETUP), `${noted.join('\n')}\n`)
  await runTool(copy, ['scripts/build/build.mjs'], LIMIT_MS)
  await runTool(copy, ['node_modules/vitest/vitest.mjs', 'run', filter], LIMIT_MS)
  execFileSync('git', ['checkout', '--quiet', '.'], { cwd: copy })
  const lines = existsSync(`${folder}/ran.txt`) ? readFileSync(`${folder}/ran.txt`, 'utf8').trim().split('\n') : []
  const tests = new Map(probed.map(({ id }) => [id, new Set()]))
  for (const line of lines) {
    const [, index, test] = /^(\d+) (.*)$/.exec(line) ?? []
    if (test) tests.get(mutations[index].id)?.add(path.relative(copy, test))
  }
  return Object.fromEntries([...tests].map(([id, files]) => [id, [...files]]))
}

function withProbes(source, file, mutations, folder) {
  const inserted = mutations.flatMap((one, index) => {
    if (one.file !== file) return []
    const probe = `__ran(${index}, ${JSON.stringify(folder)})`
    const { start, end } = one.block
    return end === undefined
      ? [[start, `;${probe};`]]
      : [
          [end, ')'],
          [start, `(${probe}, `],
        ]
  })
  let text = source
  for (const [offset, part] of inserted.toSorted(([a], [b]) => b - a)) {
    text = text.slice(0, offset) + part + text.slice(offset)
  }
  const from = path.posix.relative(path.posix.dirname(file), 'scripts/mutate/ran.mjs')
  return `import { ran as __ran } from '${from}'\n${text}`
}
