// This file verifies the check of `sandbridge doctor` of clients' entries that start Sandbridge.
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { readSettings } from '@sandbridge/core/config/settings'
import { VERSION } from '@sandbridge/core/util'
import { checkEntries } from './check-entries.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A home folder with these files; `~` in a text is the folder. */
function homeWith(files: Record<string, string | object>): string {
  const home = realpathSync(newFolder())
  for (const [name, what] of Object.entries(files)) {
    mkdirSync(path.join(home, path.dirname(name)), { recursive: true })
    const text = typeof what === 'string' ? what : JSON.stringify(what)
    writeFileSync(path.join(home, name), text.replaceAll('~', home.replaceAll('\\', '/')))
  }
  return home
}

const GONE = { command: '~/gone/bin/node', args: ['~/gone/lib/sandbridge/dist/cli.js'] }
const OLD = { command: process.execPath, args: ['~/old/sandbridge/dist/cli.js'] }
const THERE = {
  'old/sandbridge/dist/cli.js': '',
  'old/sandbridge/package.json': { name: 'sandbridge', version: '0.0.1' },
}

const check = (home: string) =>
  checkEntries(readSettings({}, { home }), { home, cwd: path.join(home, 'project'), env: {}, ownPaths: [] })

it('doctor finds entries that start nothing or another version in the files of all clients, and writes them anew with --fix', async () => {
  const home = homeWith({
    ...THERE,
    '.cursor/mcp.json': { mcpServers: { sandbridge: { ...GONE, env: { MCP_BRIDGE_TIMEOUT: '60' } } } },
    '.codex/config.toml': `[mcp_servers.sandbridge]\ncommand = ${JSON.stringify(OLD.command)}\nargs = ["~/old/sandbridge/dist/cli.js"]\n`,
  })
  const found = await check(home)
  expect(found.map(({ message }) => message.replaceAll(home, '~').replaceAll('\\', '/'))).toEqual([
    `cursor: the entry of sandbridge in ~/.cursor/mcp.json starts ~/gone/bin/node, which is gone.`,
    `codex: the entry of sandbridge in ~/.codex/config.toml starts another installation, version 0.0.1 in ~/old/sandbridge.`,
  ])
  for (const { fix } of found) await fix!()
  expect(await check(home)).toEqual([])
  const { mcpServers } = JSON.parse(readFileSync(path.join(home, '.cursor/mcp.json'), 'utf8')) as {
    mcpServers: Record<string, unknown>
  }
  expect(mcpServers['sandbridge']).toMatchObject({ command: process.execPath, env: { MCP_BRIDGE_TIMEOUT: '60' } })
})

it('doctor says what to write by hand into a file that it does not change', async () => {
  const home = homeWith({
    ...THERE,
    'project/.mcp.json': { mcpServers: { mine: GONE } },
    'project/.cursor/mcp.json': { mcpServers: { sandbridge: OLD, notes: { command: '~/gone/notes' } } },
  })
  const found = await check(home)
  expect(
    found.map(({ fix, advice }) => [fix, /^Write there: "(\w+)": {"command":".*cli\.js"\]}$/.exec(advice!)?.[1]]),
  ).toEqual([
    [undefined, 'mine'],
    [undefined, 'sandbridge'],
  ])
})

it('doctor says nothing of entries of this version, in whatever folder', async () => {
  const home = homeWith({
    ...THERE,
    'old/sandbridge/package.json': { name: 'sandbridge', version: VERSION },
    '.cursor/mcp.json': { mcpServers: { sandbridge: OLD } },
    '.gemini/settings.json': { mcpServers: { sandbridge: { command: 'npx', args: ['-y', 'sandbridge'] } } },
  })
  expect(await check(home)).toEqual([])
})
