// @module-tag whole: one long conversation; each of its steps is in another test
// This file verifies what a new user reads from the first command to the first useful cell, with ten servers of which
// some do not work. The text is stored beside it for reading: `vitest run test/e2e/first-session.test.ts -u` updates
// it.
import { VERSION } from '../../packages/core/src/util/package-root.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import {
  bridgeEnv,
  CLI,
  fixtureServer,
  makeHome,
  published,
  ROOT,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import type { ServerEntry } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsTerminal, runInTerminal } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

/** Starts like any other server, 10 s later. */
function slow({ command, args = [] }: ServerEntry): ServerEntry {
  return { command: 'sh', args: ['-c', 'sleep 10; exec "$0" "$@"', command, ...args] }
}

const servers: Record<string, ServerEntry> = {
  alpha: published.everything(),
  files: published.filesystem('/tmp'),
  notes: published.memory('/dev/null'),
  weather: fixtureServer('raw.mjs', 'good'),
  calendar: fixtureServer('raw.mjs', 'many', '3'),
  pictures: fixtureServer('raw.mjs', 'named', 'resize_image,rotate_image,crop_image'),
  slow: slow(fixtureServer('raw.mjs', 'named', 'weekly_report')),
  broken: { command: 'sh', args: ['-c', 'echo "cannot find module mcp" >&2; exit 1'] },
  keyless: { ...published.everything(), env: { API_KEY: '${SANDBRIDGE_TEST_NO_SUCH_KEY}' } },
}

const COMMANDS = [
  [],
  ['init', '--dry-run', '--client', 'claude-code'],
  ['init', '--dry-run', '--client', 'zed'],
  ['doctor'],
  ['servers'],
  ['index'],
  ['servers'],
  ['servers', 'broken'],
  ['servers', 'keyless'],
  ['servers', 'notes'],
  ['search', 'add two numbers'],
  ['tools', 'alpha', 'get_sum'],
  ['exec', '-c', 'len(runtime.discovered_servers())'],
  ['exec', '-c', 'await mcp_alpha.get_sum(a=2, b=40)'],
  ['exec', '-t', '60', '-c', 'print(await mcp_slow.weekly_report())'],
  ['exec', '-c', '1 +'],
  ['exec', '-c', 'await mcp_alpha.get_sum(x=2)'],
  ['exec', '-c', 'await mcp_broken.hello()'],
  ['exec', '-c', 'await mcp_keyless.echo(message="x")'],
  ['exec', '-c', 'await mcp_project.echo(message="x")'],
  ['exec', '-c', 'import requests\nrequests.get("https://example.com")'],
]

it('the first session of a user in a terminal reads well', { timeout: 360_000 }, async () => {
  needsTerminal()
  const home = makeHome(servers)
  const project = path.join(home, 'project')
  mkdirSync(project)
  mkdirSync(path.join(home, '.claude'))
  writeFileSync(path.join(project, '.mcp.json'), JSON.stringify({ mcpServers: { project: published.everything() } }))
  let session = ''
  for (const args of COMMANDS) {
    // Uses a terminal only for commands whose output depends on it.
    const env = bridgeEnv(home, { MCP_BRIDGE_RUNTIME: 'pyodide', TERM: 'xterm', MCP_BRIDGE_LOG_LEVEL: 'error' })
    const { stdout, stderr, code } =
      args.length === 0
        ? await runInTerminal([process.execPath, CLI], env, { cwd: project })
        : await runCommand(args, env, { cwd: project })
    session += `$ sandbridge ${args.map(quoted).join(' ')}`.trimEnd() + `\n${stdout}${stderr}`
    session += code === 0 ? '\n' : `(exit code ${code})\n\n`
  }
  await expect(normalised(session, home)).toMatchFileSnapshot('first-session.txt')
})

function quoted(word: string): string {
  return /^[\w-]+$/.test(word) ? word : `'${word}'`
}

function normalised(text: string, home: string): string {
  return (
    text
      .replaceAll('\r', '')
      .replaceAll(home, '~')
      .replaceAll(process.execPath, 'node')
      .replaceAll(process.version, 'v…')
      .replaceAll(ROOT, '/')
      // Quoted where the clone's path has a blank.
      .replaceAll(/"(\/node_modules\/[^"]*)"/g, '$1')
      // The available engines depend on the machine.
      .replace(/(?<=only Node\.js; ).*/, '…')
      .replaceAll(/^(?:usable|–| ) +(?:podman|docker|bubblewrap) .*\n/gm, '')
      .replaceAll(VERSION, '0.0.0')
      .replace(/\d+(\.\d+)? m?s\b/g, '… s')
      .replace(/sandbridge log [0-9a-f]{8}/g, 'sandbridge log 3f09a1b2')
  )
}
