// @module-tag whole: a command for each test
// This file verifies the command line's help with examples, and its errors for typos.
import { expect, it } from 'vitest'
import type { Command } from '../../core/src/serve/cli/command.ts'
import { commandLine } from '../../core/src/serve/cli/program.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

const home = makeHome()
const sandbridge = (...args: string[]) => runCommand(args, bridgeEnv(home))

/** The commands listed in a help text. */
function commandsIn(help: string): string[] {
  const list = /\nCommands:\n((?: .*\n|\n)*)/.exec(help)?.[1] ?? ''
  return [...list.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name!).filter((name) => name !== 'help')
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => void (help += text) })
  command.outputHelp()
  return help
}

it('the help of every command has examples, which begin with the command', async () => {
  const helps = new Map<string, string>()
  const visit = (command: Command, words: string[]): void => {
    const help = helpOf(command)
    const examples = help.split('\nExamples:\n')[1] ?? ''
    expect(examples, words.join(' ')).toContain(['sandbridge', ...words].join(' '))
    helps.set(words.join(' '), help)
    for (const name of commandsIn(help))
      visit(
        command.commands.find((sub) => sub.name() === name)!,
        [...words, name],
      )
  }
  visit(commandLine(PACKAGES), [])
  expect(helps.size).toBeGreaterThan(20)
  // It is what a user reads.
  for (const words of ['', 'packages list']) {
    const { code, stdout } = await sandbridge(...words.split(' ').filter(Boolean), '--help')
    expect([code, stdout]).toEqual([0, helps.get(words)])
  }
})

it.each([
  [['serach', 'x'], 'Did you mean `sandbridge search`?'],
  [['packages', 'lsit'], 'Did you mean `sandbridge packages list`?'],
  [['servers', '--jsno'], '(Did you mean --json?)'],
  [['exec', '--sever', 'x'], '(Did you mean --servers?)'],
  [['--htpt', '1'], '(Did you mean --http?)'],
  [['search'], "missing required argument 'query'"],
  [['doctor', 'now'], 'too many arguments'],
  [['completion', 'tcsh'], 'Shells: bash, zsh, fish'],
])('sandbridge exits with 2 after a mistake, and suggests what was meant: %j', async (args, expected) => {
  const { code, stderr, stdout } = await sandbridge(...args)
  expect(stderr).toContain(expected)
  expect(stderr).toMatch(/^sandbridge: /)
  expect([code, stdout]).toEqual([2, ''])
})

it('--json may stand anywhere after the command, is in the help of what prints JSON, and is refused elsewhere', async () => {
  for (const words of [
    ['profile', '--json'],
    ['--json', 'profile'],
    ['packages', 'list', '--json', '-v'],
  ]) {
    const { code, stdout } = await sandbridge(...words)
    expect([code, typeof JSON.parse(stdout)], words.join(' ')).toEqual([0, 'object'])
  }
  expect((await sandbridge('servers', '--help')).stdout).toMatch(/^ {2}--json +print JSON, without secrets$/m)
  expect((await sandbridge('stop', '--help')).stdout).not.toContain('--json')
  const refused = await sandbridge('stop', '--json')
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(/^sandbridge: `sandbridge stop` prints no JSON\nSee `sandbridge stop --help`\.\n/)
  expect((await sandbridge('token', 'create', 'ann', '--json')).stderr).toMatch(
    /^sandbridge: `sandbridge token create` prints no JSON\nSee `sandbridge token create --help`\.\n/,
  )
})

it('an option that stands in place of arguments is refused beside one', async () => {
  const { code, stderr } = await sandbridge('saved', 'twice', '--remove', 'other')
  expect(code).toBe(2)
  expect(stderr).toContain("--remove stands in place of other arguments: leave out 'twice'")
})

it('there are at most 45 commands and 88 options', () => {
  const commands: string[] = []
  const options: string[] = []
  const visit = (command: Command): void => {
    options.push(...command.options.map(({ flags }) => `${command.name()} ${flags}`))
    if (command.commands.length === 0) commands.push(command.name())
    for (const sub of command.commands) visit(sub)
  }
  visit(commandLine(PACKAGES))
  expect(commands).toContain('stop')
  expect(commands.length).toBeLessThanOrEqual(45)
  expect(options.length).toBeLessThanOrEqual(88)
})
