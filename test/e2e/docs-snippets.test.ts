// @module-tag whole: every block of the docs is run; their conversations are those of other tests
// This file verifies the code in the documentation: Python blocks run in the embedded sandbox with fixture servers, the
// bridge reads JSON blocks, and every `sandbridge …` on a page is a command with these options.
//   ```python                     runs; blocks of a page share one session, from top to bottom
//   ```python no-run: a reason    does not run
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { commandLine } from '../../packages/core/src/serve/cli/program.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { discoverServers } from '../../packages/core/src/config/discover.ts'
import { readSettings } from '../../packages/core/src/config/settings/settings.ts'
import { bridgeEnv, fixtureServer, makeHome, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { REAL_SANDBOX, ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

const program = commandLine(PACKAGES)

const read = (page: string) => readFileSync(path.join(ROOT, page), 'utf8')
const PAGES = [
  ...readdirSync(ROOT).filter((file) => file.endsWith('.md') && file !== 'CHANGELOG.md'),
  ...readdirSync(path.join(ROOT, 'docs')).flatMap((file) => (file.endsWith('.md') ? [`docs/${file}`] : [])),
]

interface Block {
  info: string
  code: string
  line: number
}

function blocksOf(page: string): Block[] {
  const text = read(page)
  return Array.from(text.matchAll(/^```([^\n]*)\n([^]*?)^```$/gm), ({ 1: info, 2: code, index }) => ({
    info: info!,
    code: code!,
    line: text.slice(0, index).split('\n').length,
  }))
}

const blocksIn = (pages: string[], language: string) =>
  pages.flatMap((page) =>
    blocksOf(page)
      .filter(({ info }) => info.split(' ')[0] === language)
      .map((block) => ({ page, ...block })),
  )

it.each(['README.md', 'docs/guide.md', 'docs/errors.md'])('every Python block of %s runs', async (page) => {
  const blocks = blocksIn([page], 'python')
  expect(blocks).not.toHaveLength(0)
  const bridge = await startBridge({
    servers: {
      github: fixtureServer('documented.mjs', 'github'),
      docs: fixtureServer('documented.mjs', 'docs'),
      everything: published.everything(),
    },
    env: REAL_SANDBOX,
  })
  for (const { info, code, line } of blocks) {
    if (info !== 'python') {
      expect(info, `${page}:${line}`).toMatch(/^python no-run: \w/)
      continue
    }
    const { text, isError } = await bridge.call({ code, timeout: 60 })
    expect(isError, `${page}:${line}: ${text}`).toBe(false)
  }
})

const JSON_BLOCKS = blocksIn(PAGES, 'json')

it('every JSON block of the documentation is valid', () => {
  expect(JSON_BLOCKS).not.toHaveLength(0)
  for (const { page, line, code } of JSON_BLOCKS) expect(() => JSON.parse(code), `${page}:${line}`).not.toThrow()
})

/** What the bridge finds in a file in ~/MCPs: servers, and skipped entries. */
async function readServers(file: string): Promise<{ names: string[]; skipped: unknown[] }> {
  const home = makeHome()
  writeFileSync(path.join(home, 'MCPs/servers.json'), file)
  const env = bridgeEnv(home, { MCP_BRIDGE_ALLOW_SELF_SERVER: '1', MCP_BRIDGE_SOURCES: 'mcps' })
  const settings = readSettings(env, { home })
  const { servers, skipped } = await discoverServers({ settings, env, home, cwd: home, ownPaths: [] })
  return { names: servers.map(({ name }) => name), skipped }
}

it('every server definition in a JSON block of the documentation is accepted', async () => {
  const files = JSON_BLOCKS.filter(({ code }) => code.includes('"mcpServers"'))
  expect(files).not.toHaveLength(0)
  for (const { page, line, code } of files) {
    const expected = Object.keys((JSON.parse(code) as { mcpServers: object }).mcpServers)
    expect(await readServers(code), `${page}:${line}`).toEqual({ names: expected, skipped: [] })
  }
})

it('control: an invalid server definition in the documentation is noticed', async () => {
  expect((await readServers('{ "mcpServers": { "a": { "command": 7 } } }')).skipped).toHaveLength(1)
})

/** The help of a command; undefined for an unknown command. */
function helpOf(words: string[]): string | undefined {
  let command: typeof program | undefined = program
  for (const word of words) command = command?.commands.find((one) => one.name() === word)
  return command?.helpInformation()
}

/** Command lines in console blocks and in the text. */
function commandsIn(page: string): string[] {
  const typed = blocksIn([page], 'console').flatMap(({ code }) => code.match(/^\$ .*/gm) ?? [])
  const named = Array.from(read(page).matchAll(/`(?:npx )?(sandbridge [^`]+)`/g), ([, command]) =>
    command!.replaceAll('\n', ' '),
  )
  return [...typed.map((line) => line.slice(2)), ...named].filter((line) => line.startsWith('sandbridge '))
}

/** What is wrong with a command line; undefined when it is valid. */
function problemWith(line: string): string | undefined {
  const words = line
    .replaceAll(/(['"]).*?\1/g, 'TEXT')
    .split(/\s+/)
    .slice(1)
  const command: string[] = []
  for (const word of words) {
    if (!/^[a-z][a-z-]*$/.test(word)) break
    const commands = /^Commands:\n((?: .*\n?)*)/m.exec(helpOf(command) ?? '')?.[1] ?? ''
    const isCommand = new RegExp(`^  ${word}\\b`, 'm').test(commands)
    if (!isCommand && commands !== '') return `${line}: no command ${word}`
    if (!isCommand) break
    command.push(word)
  }
  const help = `${helpOf(command)}\n${helpOf([])}`
  const options = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=')[0]!)
  const unknown = options.filter((option) => !new RegExp(`(?<![\\w-])${option}(?![\\w-])`).test(help))
  return unknown.length === 0 ? undefined : `${line}: no option ${unknown.join(', ')}`
}

it.each(PAGES.filter((page) => commandsIn(page).length > 0))('every command that %s names exists', (page) => {
  expect(commandsIn(page).map(problemWith).filter(Boolean)).toEqual([])
})

it('control: a command or option that does not exist is noticed', () => {
  expect(problemWith('sandbridge serverz')).toContain('no command serverz')
  expect(problemWith('sandbridge packages explode x')).toContain('no command explode')
  expect(problemWith('sandbridge exec --nonsense x')).toContain('no option --nonsense')
  expect(problemWith('sandbridge exec -c "--nonsense"')).toBeUndefined()
})

it.each(PAGES)('blocks of %s that show commands are console blocks', (page) => {
  const shown = blocksOf(page).filter(({ code }) => /^\$ /m.test(code))
  expect(shown.filter(({ info }) => info !== 'console')).toEqual([])
})
