// `npm run test:changed [REF]`: the tests that a change since REF can break soonest; without REF, since this branch
// left main. Of src/, the unit tests that import a changed file; of test/, changed files, and those named after a
// changed file or its folder; always the cells of the built bridge. CI runs the rest.
import { execFileSync, spawnSync } from 'node:child_process'
import path from 'node:path'
import { namedTests } from './named-tests.mjs'

const ROOT = path.join(import.meta.dirname, '../..')
const CONVERSATION = 'packages/core/test/e2e/cells.test.ts'
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean)
const run = (...args) =>
  spawnSync('npx', args, { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' }).status

const since = process.argv[2] ?? git('merge-base', 'HEAD', 'main')[0]
const changed = [...git('diff', '--name-only', since), ...git('ls-files', '--others', '--exclude-standard')]
const tests = git('ls-files', 'test', 'packages/*/test/*').filter(
  (file) => file.endsWith('.test.ts') && !file.endsWith('-real.test.ts'),
)

const chosen = new Set([CONVERSATION, ...changed.filter((file) => tests.includes(file)), ...namedTests(changed, tests)])
process.stdout.write(`since ${since}: ${changed.length} changed files\n`)
const unit = run('vitest', 'run', '--project', 'unit', '--changed', since, '--passWithNoTests')
const rest = run('vitest', 'run', '--project', 'tests', ...chosen)
process.exitCode = unit || rest
