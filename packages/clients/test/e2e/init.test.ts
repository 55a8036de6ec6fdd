// @module-tag whole: ../init/init.test.ts has the journey
// This file verifies `sandbridge init` in every client, compared with the library that registers servers in other
// clients' files.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { parseDocument } from '../../../core/src/config/formats/config-document.ts'
import { bridgeEnv, BUILT_CLI, ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** The command that works from the location of the program under test. */
const COMMAND = { command: process.execPath, args: [BUILT_CLI] }

const FORMATS: Record<string, 'toml' | 'yaml'> = { '.toml': 'toml', '.yaml': 'yaml' }

/**
 * Registers a server in every client it knows, in a separate process: the library determines the home folder once, when
 * it is loaded.
 */
const LIBRARY = `
import { getAgentTypes, upsertServer } from 'add-mcp'
for (const agent of getAgentTypes()) {
  const { success, path, error } = upsertServer(agent, 'sandbridge', JSON.parse(process.env.COMMAND))
  if (!success) throw new Error(agent + ': ' + error)
  console.log(path)
}`

/** The content of every file below a folder. */
async function documentsIn(home: string): Promise<Record<string, unknown>> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  const documents = files
    .filter((file) => !file.includes('MCPs') && !file.includes(path.join(home, 'cache')))
    .map(async (file) => {
      const parsed = await parseDocument(await readFile(file, 'utf8'), FORMATS[path.extname(file)] ?? 'jsonc')
      return [
        path.relative(home, file).replaceAll(path.sep, '/'),
        'document' in parsed ? parsed.document : parsed.reason,
      ] as const
    })
  return Object.fromEntries(await Promise.all(documents))
}

/** What the library writes on a machine with every client it knows. */
async function libraryHome(): Promise<string> {
  const home = newFolder()
  const { code, stderr } = await runProgram(
    process.execPath,
    ['--input-type=module', '--eval', LIBRARY],
    bridgeEnv(home, { COMMAND: JSON.stringify(COMMAND) }),
    { cwd: ROOT },
  )
  expect(stderr).toBe('')
  expect(code).toBe(0)
  return home
}

it('sandbridge init shows its changes with --dry-run and --json, and writes nothing without --yes', async () => {
  const home = newFolder()
  await mkdir(path.join(home, '.claude'))
  const init = (...args: string[]) =>
    runProgram(process.execPath, [BUILT_CLI, 'init', ...args], bridgeEnv(home), { cwd: home })
  const file = path.join(home, '.claude.json')
  const dry = await init('--dry-run', '--yes')
  expect(dry.stdout).toContain(`claude-code: ${file}`)
  expect(dry.stdout).toContain('+    "sandbridge": {')
  expect(dry.stdout).toMatch(/\nNothing was changed: this was a dry run\.\n$/)
  const shown = JSON.parse((await init('--json')).stdout) as Record<string, unknown[]>
  expect(shown).toMatchObject({ changes: [{ client: 'claude-code', file }], registered: [], written: [] })
  expect(shown['absent']).toContainEqual({ client: 'cursor', file: path.join(home, '.cursor/mcp.json') })
  await expect(readFile(file)).rejects.toThrow('ENOENT')

  // The positive control.
  const done = JSON.parse((await init('--json', '--yes')).stdout) as Record<string, unknown[]>
  expect(done['written']).toEqual([file])
  expect(await readFile(file, 'utf8')).toContain('"sandbridge"')
  expect(JSON.parse((await init('--json', '--undo')).stdout)).toMatchObject({
    planned: [{ file, action: 'delete' }],
    deleted: [],
  })
  expect(JSON.parse((await init('--json', '--undo', '--yes')).stdout)).toMatchObject({
    deleted: [file],
    restored: [],
  })

  await init('--yes')
  await writeFile(file, '{broken')
  const broken = await init('--undo', '--yes')
  expect(broken.stdout).toContain(`skipped ${file}: is not valid JSON`)
  expect(broken.stdout).toContain('Not undone: 1 change of init. Correct the above and run this again.')
  expect(broken.code).toBe(1)
  expect((await init('--undo', '--yes', '--json')).code).toBe(1)

  const none = await init('--client', 'zed')
  expect(none.stdout).toMatch(/^zed: not found on this machine \(no .*settings\.json\)\nNothing to change\.\n$/)
})

it('sandbridge init lists tools directly where it is told to, also in an entry that is there', async () => {
  const home = newFolder()
  await mkdir(path.join(home, '.claude'))
  const file = path.join(home, '.claude.json')
  const init = (...args: string[]) =>
    runProgram(process.execPath, [BUILT_CLI, 'init', '--yes', ...args], bridgeEnv(home), { cwd: home })
  const envOf = async (): Promise<unknown> =>
    (JSON.parse(await readFile(file, 'utf8')) as { mcpServers: { sandbridge: { env?: unknown } } }).mcpServers
      .sandbridge.env
  expect((await init()).stdout).toContain('sandbridge init --client claude-code --tools direct')
  expect(await envOf()).toBeUndefined()
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('"sandbridge": {', '"sandbridge": {"env": {"MINE": "1"},'))
  await init('--client', 'claude-code', '--tools', 'direct')
  expect(await envOf()).toEqual({ MINE: '1', MCP_BRIDGE_TOOLS: 'direct' })
  expect((await init('--tools', 'all')).stderr).toContain('--tools is one of code, search, direct')
})

it('sandbridge init registers with every client, and undoes all of it', async () => {
  const expected = await documentsIn(await libraryHome())
  expect(Object.keys(expected).length).toBeGreaterThan(20)

  const home = newFolder()
  for (const file of Object.keys(expected)) await mkdir(path.join(home, path.dirname(file)), { recursive: true })
  await mkdir(path.join(home, '.claude'))
  // Gemini CLI shares its folder with another client, and OpenCode has two names for its file, so these files must
  // exist.
  const there = { '.gemini/settings.json': {}, '.config/opencode/opencode.jsonc': {} }
  for (const file of Object.keys(there)) await writeFile(path.join(home, file), '{}')

  const init = (...options: string[]) => runProgram(process.execPath, [BUILT_CLI, 'init', ...options], bridgeEnv(home))
  expect((await init('--yes')).code).toBe(0)
  // OpenCode's own code mode would wrap ours.
  const written = await documentsIn(home)
  expect(written['.config/opencode/opencode.jsonc']).toMatchObject({ mcp: { sandbridge: { codemode: false } } })
  expect(JSON.parse(JSON.stringify(written).replace(',"codemode":false', ''))).toEqual(expected)
  const again = await init('--yes', '--move')
  expect(again.stdout.match(/registered already/g)).toHaveLength(Object.keys(expected).length)
  expect(again.stdout).toContain('Nothing to change.')

  expect((await init('--undo', '--yes')).code).toBe(0)
  expect(await documentsIn(home)).toEqual(there)
})

it('sandbridge init leaves the servers of a client that it does not read where they are', async () => {
  const home = newFolder()
  const file = path.join(home, '.kimi-code/mcp.json')
  await mkdir(path.dirname(file))
  await writeFile(file, '{"mcpServers": {"other": {"command": "x"}}}')
  const { stdout } = await runProgram(process.execPath, [BUILT_CLI, 'init', '--yes', '--move'], bridgeEnv(home))
  expect(stdout).toContain(`kimi-code: ${file}`)
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    mcpServers: { other: { command: 'x' }, sandbridge: COMMAND },
  })
})
