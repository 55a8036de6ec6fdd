// This file verifies pages that are complete: the settings are those of the program, the options of some commands match
// --help, and the sections those of `npm run bench`.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { filesOf, SECTIONS } from '../../bench/sections.ts'
import { commandLine } from '../../packages/core/src/serve/cli/program.ts'
import { variableOf } from '../../packages/core/src/config/settings/given-texts.ts'
import { parse } from '../../packages/core/src/config/settings/setting-kinds.ts'
import { type NamedSetting, namedSettings, settingContext } from '../../packages/core/src/config/settings/settings.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'

const program = commandLine(PACKAGES)

const read = (page: string) => readFileSync(path.join(ROOT, page), 'utf8')

/** Long options in a text, without those of every command. */
function optionsIn(text: string): string[] {
  const found = [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([option]) => option)
  return [...new Set(found)].filter((option) => option !== '--help').toSorted()
}

/** Whether a word is a value of a setting. */
function isValue(setting: NamedSetting, word: string): boolean {
  return !setting.variable.includes('=') && parse(setting, word, settingContext({})) !== undefined
}

it('every page names only variables, and parts of variables, that are settings', () => {
  const settings = namedSettings()
  const inDocs = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  const problems = [...readdirSync(ROOT), ...inDocs.map((file) => path.join('docs', file))]
    // These two tell of the past.
    .filter(
      (file) => file.endsWith('.md') && file !== 'CHANGELOG.md' && !file.startsWith(path.join('docs', 'decisions')),
    )
    .flatMap((page) => {
      const text = readFileSync(path.join(ROOT, page), 'utf8')
      const found = text.matchAll(/(?<![\w$])(MCP_BRIDGE_[A-Z_*]+)(?:=(\w+)(?=`))?/g)
      return Array.from(found, ([whole, variable, word]) => {
        const own = settings.filter((one) => variableOf(one) === variable)
        const isWord = word === undefined || own.some((one) => one.variable.endsWith(`=${word}`) || isValue(one, word))
        return own.length > 0 && isWord ? [] : [`${page}: ${whole}`]
      })
    })
  expect(problems.flat()).toEqual([])
})

it.each([
  ['init', 'configuration', 'Registering Sandbridge'],
  ['trust', 'configuration', "A project's own servers"],
  ['login and logout', 'sign-in', 'Sign in to remote servers'],
  ['run', 'http', 'Serve over HTTP'],
  ['token create', 'http', 'Tokens with names'],
])('the documentation has all options of sandbridge %s', (command, page, heading) => {
  const help = command.split(' and ').map((each) => {
    let described = program
    for (const word of each.split(' ')) described = described.commands.find((one) => one.name() === word)!
    return described.helpInformation()
  })
  const section = read(`docs/${page}.md`)
    .split(/^#{1,3} /m)
    .find((text) => text.startsWith(`${heading}\n`))
  expect(optionsIn(section ?? '')).toEqual(optionsIn(help.join('\n')))
})

it('docs/benchmarks.md describes every section of npm run bench', () => {
  const page = readFileSync(path.join(ROOT, 'docs/benchmarks.md'), 'utf8')
  expect(SECTIONS).toEqual(expect.arrayContaining(['calls', 'core']))
  const without = SECTIONS.flatMap(filesOf).filter((file) => !/^export default /m.test(readFileSync(file, 'utf8')))
  expect(without).toEqual([])
  const described = Array.from(page.matchAll(/\*\*`(\w+)`\*\*/g), ([, name]) => name!)
  expect(described.toSorted()).toEqual(SECTIONS)
})

it('the decision about line protocols names files that exist', () => {
  const page = readFileSync(path.join(ROOT, 'docs/decisions/0017-six-line-protocols.md'), 'utf8')
  const named = Array.from(page.matchAll(/`(packages\/[^`]+)`/g), ([, file]) => file!)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([])
})
