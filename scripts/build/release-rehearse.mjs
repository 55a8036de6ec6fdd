// `npm run release:rehearse`: goes the way of .github/workflows/release.yml to its last step without publishing, on a
// clean clone of the current commit. Prints one line for each step. Exit code 1 when one fails.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const work = mkdtempSync(path.join(tmpdir(), 'sandbridge-release-'))
const clone = path.join(work, 'clone')
const prefix = path.join(work, 'prefix')
const home = path.join(work, 'home')
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))

/** Runs a program in the clone and returns its output. */
function run(program, args, { cwd = clone, env = {} } = {}) {
  return execFileSync(program, args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8', stdio: 'pipe' }).trim()
}

const installed = (...args) =>
  run(path.join(prefix, 'bin', 'sandbridge'), args, { cwd: work, env: { HOME: home, MCP_BRIDGE_RESIDENT: 'off' } })

const STEPS = {
  'a clean clone of the commit': () => run('git', ['clone', '--quiet', ROOT, clone], { cwd: work }),
  'npm ci': () => run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline']),
  'every version is the same, and README.md without its block is for a published package': () => {
    const page = path.join(clone, 'README.md')
    const text = readFileSync(page, 'utf8')
    const published = text.replace(/<!-- until the first release[^]*?<!-- end of the block -->\n\n?/, '')
    if (published !== text) remarks.push('README.md: delete the block "until the first release".')
    writeFileSync(page, published)
    run('npm', ['run', '--silent', 'check:release', '--', `v${version}`])
  },
  'the package, with its software bill of materials': () =>
    run('npm', ['pack', '--silent', '--pack-destination', work]),
  'it installs in an empty place': () =>
    run('npm', ['install', '--global', '--silent', '--prefix', prefix, path.join(work, `sandbridge-${version}.tgz`)]),
  'the installed program has the version': () => {
    const said = installed('--version')
    if (!said.includes(version)) throw new Error(`it says ${said}`)
  },
  'the installed program runs a cell': () => {
    const said = installed('exec', '-c', '6 * 7')
    if (said !== '42') throw new Error(`it says ${said}`)
  },
  'the MCP bundle': () => run('npm', ['run', '--silent', 'build:mcpb']),
  'what npm would publish': () =>
    run('npm', ['publish', '--dry-run', '--silent', '--ignore-scripts', '--access', 'public']),
  'the entry of the MCP registry names that package': () => {
    const { packages } = JSON.parse(readFileSync(path.join(clone, 'server.json'), 'utf8'))
    if (packages[0].version !== version) throw new Error(`it names ${packages[0].version}`)
  },
}

const remarks = []
let failed = 0
try {
  for (const [name, step] of Object.entries(STEPS)) {
    const start = Date.now()
    try {
      step()
      process.stdout.write(`ok      ${name} (${Math.round((Date.now() - start) / 1000)} s)\n`)
    } catch (error) {
      failed += 1
      const said = [error.stderr, error.stdout, error.message].find((text) => text?.trim())
      process.stdout.write(`FAILED  ${name}\n${said.trim().split('\n').slice(-5).join('\n')}\n`)
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
for (const remark of remarks) process.stdout.write(`to do   ${remark}\n`)
process.stdout.write(failed === 0 ? 'Next: git tag, git push --tags.\n' : `${failed} steps failed.\n`)
process.exitCode = failed === 0 ? 0 : 1
