// Lints, format-checks and type-checks python/ with the tools of packages/core/python/requirements-check.txt. `.ci/run`
// installs them in TOOLS. On a machine without them there or on the PATH, a check is skipped, unless CI=true. It is the
// last part of `npm run check`, so that the last line names what was skipped.
import { spawnSync } from 'node:child_process'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '../..')
const TOOLS = path.join(ROOT, '.cache', 'python-check', process.platform === 'win32' ? 'Scripts' : 'bin')
const CHECKS = [
  ['ruff', 'check'],
  ['ruff', 'format', '--check'],
  ['mypy', '--strict'],
]

const env = { ...process.env, PATH: [TOOLS, process.env.PATH].join(path.delimiter) }
let failed = false
const skipped = []
for (const [tool, ...args] of CHECKS) {
  const name = [tool, ...args].join(' ')
  // Both tools read packages/core/python/pyproject.toml from their working directory.
  const { error, status } = spawnSync(tool, [...args, '.'], {
    cwd: path.join(ROOT, 'packages/core/python'),
    env,
    stdio: 'inherit',
  })
  if (!error) {
    failed ||= status !== 0
  } else if (error.code === 'ENOENT' && process.env.CI !== 'true') {
    skipped.push(name)
  } else {
    const reason = error.code === 'ENOENT' ? 'install packages/core/python/requirements-check.txt' : error.message
    process.stderr.write(`${name} did not run: ${reason}\n`)
    failed = true
  }
}
process.exitCode = failed ? 1 : 0
const why = 'not installed; see packages/core/python/requirements-check.txt'
process.stdout.write(skipped.length === 0 ? 'Nothing was skipped.\n' : `Skipped: ${skipped.join(', ')} (${why})\n`)
