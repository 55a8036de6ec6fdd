// @module-tag whole: shells, one of which compiles its own completions first
// This file verifies that the completion scripts work in the shells.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'

const home = makeHome()

const needs = (shell: string): void => {
  // The `bash` of Windows itself only says how to install Linux.
  if (spawnSync(shell, ['--version']).status !== 0) skip(`only on a machine with ${shell}`)
}
const script = async (shell: string): Promise<string> => {
  const { code, stdout } = await runCommand(['completion', shell], bridgeEnv(home))
  expect(code).toBe(0)
  const file = path.join(home, `completion.${shell}`)
  writeFileSync(file, stdout)
  // To a shell, a backslash of Windows is an escape.
  return file.replaceAll('\\', '/')
}

it('completion in bash completes commands, their commands and options', async () => {
  needs('bash')
  const file = await script('bash')
  const complete = (...words: string[]): string => {
    const line = `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _sandbridge; echo "\${COMPREPLY[*]}"`
    return spawnSync('bash', ['-c', line], { encoding: 'utf8' }).stdout.trim()
  }
  expect(complete('sandbridge', 'se')).toBe('servers search')
  expect(complete('sandbridge', 'packages', 'l')).toBe('list')
  expect(complete('sandbridge', 'exec', '--json', '--im')).toBe('--images')
})

it('completion in bash passes over the values of options, and arguments', async () => {
  needs('bash')
  const file = await script('bash')
  const line = `set -eu; eval "$(cat ${file})"; COMP_WORDS=(sandbridge init --client cursor --mo); COMP_CWORD=4; _sandbridge; echo "\${COMPREPLY[*]}"`
  expect(spawnSync('bash', ['-c', line], { encoding: 'utf8' }).stdout.trim()).toBe('--move')
})

it('completion in fish completes commands, their commands and options, and writes no error', async () => {
  needs('fish')
  const file = await script('fish')
  const complete = (line: string): string => {
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', `source ${file}; complete -C '${line}'`], {
      encoding: 'utf8',
      // As in a terminal, where nothing comes from there either.
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return stderr + stdout.replaceAll(/\t.*/g, '').trim().replaceAll('\n', ' ')
  }
  expect(complete('sandbridge sear')).toBe('search')
  expect(complete('sandbridge ini')).toBe('init')
  expect(complete('sandbridge token cr')).toBe('create')
  expect(complete('sandbridge exec --json --im')).toBe('--images')
  expect(complete('sandbridge init --client cursor --mo')).toBe('--move')
})

it.each([
  ['after compinit', (source: string) => `autoload -Uz compinit; compinit -D; ${source}`],
  ['before compinit', (source: string) => `${source}; autoload -Uz compinit; compinit -D`],
  ['without compinit', (source: string) => source],
  [
    'from a file of fpath',
    (_: string, folder: string) => `fpath=(${folder} $fpath); autoload -Uz compinit; compinit -u -D`,
  ],
])(
  'completion in zsh, %s, completes commands and options at the first prompt, and writes no error',
  async (_, load) => {
    needs('zsh')
    const file = await script('zsh')
    copyFileSync(file, path.join(home, '_sandbridge'))
    // An interactive shell in a terminal, to which keys are sent; one of them writes the line as it is then.
    const lines = path.join(mkdtempSync(path.join(home, 'lines-')), 'lines')
    const rc = `PS1=ready:
  ${load(`source <(cat ${file})`, home)}
  tell() { print -r -- $BUFFER >> ${lines}; BUFFER= }
  zle -N tell; bindkey '^T' tell`
    writeFileSync(path.join(home, '.zshrc'), rc)
    const keys = `
    zmodload zsh/zpty
    zpty shell zsh -di
    zpty -r shell out '*ready:*'
    for line in 'sandbridge token cr' 'sandbridge init --client cursor --mo'; do
      zpty -n -w shell $line$'\\t\\x14'
      repeat 100; do [[ -s ${lines} ]] && break; sleep 0.1; done; sleep 0.1
      cat ${lines}; rm ${lines}
    done
    zpty -rt shell more; print -r -- $out $more >&2; zpty -d shell`
    const env = { PATH: process.env['PATH'], HOME: home, TERM: 'xterm', LANG: 'C' }
    const { stdout, stderr } = spawnSync('zsh', ['-fc', keys], { encoding: 'utf8', env, timeout: 60_000 })
    expect(stdout).toBe('sandbridge token create \nsandbridge init --client cursor --move \n')
    expect(stderr).not.toMatch(/not found|error|bad /)
  },
)
