// `npm run check [-- PACKAGE]`: all checks, or those of one package: its format, lint and types, and the checks that
// take two seconds for all. Ends at the first that finds something, with its exit code.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '../..')
const name = process.argv[2]
const checks = name === undefined ? checksOfAll() : checksOfPackage(`packages/${name}`)
for (const words of checks) {
  process.stdout.write(`\n> ${words.join(' ')}\n`)
  const [command, ...args] = words
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}

function checksOfAll() {
  const all = ['format', 'lint', 'types', 'layers', 'docs', 'unused', 'release', 'python']
  return all.map((one) => ['npm', 'run', '--silent', `check:${one}`])
}

function checksOfPackage(folder) {
  const hasOwn = (part) => existsSync(path.join(ROOT, folder, part))
  if (!hasOwn('package.json')) throw new Error(`There is no ${folder}.`)
  // Relative: Windows' shell would split a path with a space.
  const config = '.cache/tsconfig.package.json'
  mkdirSync(path.join(ROOT, '.cache'), { recursive: true })
  const include = [`../${folder}/src`, `../${folder}/test`, `../${folder}/bench`]
  writeFileSync(path.join(ROOT, config), JSON.stringify({ extends: '../tsconfig.json', include }))
  return [
    ['npx', 'oxfmt', '--check', folder],
    ['npx', 'oxlint', '--type-aware', '--deny-warnings', folder],
    ['npx', 'tsc', '-p', config],
    ...(hasOwn('web') ? [['npx', 'tsc', '-p', `${folder}/web/tsconfig.json`, '--noEmit']] : []),
    ...(hasOwn('python') ? [['npm', 'run', '--silent', 'check:python']] : []),
    ...['layers', 'docs'].map((one) => ['npm', 'run', '--silent', `check:${one}`]),
  ]
}
