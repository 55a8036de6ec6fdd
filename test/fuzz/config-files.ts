// Fuzzes config files of every client: an invalid one affects only its own servers, and never the start.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { discoverServers } from '../../packages/core/src/config/discover.ts'
import { readSettings } from '../../packages/core/src/config/settings/settings.ts'
import { assertHolds, assertUnpolluted, type Family } from './family.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** Where each client stores its file, below the home folder. */
const PLACES: Record<string, string> = {
  'mcps.json': 'MCPs/fuzzed.json',
  'claude.json': '.claude.json',
  'codex.toml': '.codex/config.toml',
  'gemini.json': '.gemini/settings.json',
  'cursor.json': '.cursor/mcp.json',
  'goose.yaml': '.config/goose/config.yaml',
  'opencode-1.json': '.config/opencode/opencode.json',
  'zed.json': '.config/zed/settings.json',
}

const fixtures = new URL('../../packages/core/test/fixtures/config/', import.meta.url)
const home = newFolder()
mkdirSync(path.join(home, 'MCPs'))
writeFileSync(path.join(home, 'MCPs/own.json'), '{"mcpServers": {"untouched": {"command": "node"}}}')

export const configFiles: Family = {
  name: 'config-files',
  // The file's name comes first, so that a mutation can also change which reader gets the text.
  seeds: readdirSync(fixtures)
    .filter((name) => name in PLACES)
    .map((name) => Buffer.from(`${name}\n${readFileSync(new URL(name, fixtures), 'utf8')}`)),
  shortRuns: 500,
  async attempt(input) {
    const [name] = input.toString('latin1').split('\n', 1)
    const place = path.join(home, PLACES[name!] ?? 'MCPs/fuzzed.json')
    mkdirSync(path.dirname(place), { recursive: true })
    writeFileSync(place, input.subarray(name!.length + 1))
    try {
      const settings = readSettings({}, { home, platform: 'linux', isRoot: false })
      const { servers } = await discoverServers({ settings, env: {}, home, cwd: home, platform: 'linux', ownPaths: [] })
      assertHolds(
        servers.some((server) => server.name === 'untouched'),
        'a broken file costs no other file its servers',
      )
      for (const server of servers) assertHolds(server.name !== '', 'every server has a name')
      assertUnpolluted()
    } finally {
      rmSync(place, { force: true })
    }
  },
  close: async () => rmSync(home, { recursive: true, force: true }),
}
