// This file verifies what a new user reads from the first command to the first useful cell, with ten servers of which some do not work.
// The text is kept beside it, to be read: `vitest run test/e2e/first-session.test.ts -u` writes it anew.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, CLI, makeHome, published, ROOT, type ServerEntry } from '../support/bridge-process.ts'
import { runProgram } from '../support/run-program.ts'

const DRIVER = path.join(ROOT, 'test/fixtures/in-terminal.py')

/** Starts like any other server, 10 s later. */
function slow({ command, args = [] }: ServerEntry): ServerEntry {
  return { command: 'sh', args: ['-c', 'sleep 10; exec "$0" "$@"', command, ...args] }
}

const names = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot']
const servers: Record<string, ServerEntry> = {
  ...Object.fromEntries(names.map((name) => [name, published.everything()])),
  slow: slow(published.everything()),
  broken: { command: 'sh', args: ['-c', 'echo "cannot find module mcp" >&2; exit 1'] },
  keyless: { ...published.everything(), env: { API_KEY: '${SANDBRIDGE_TEST_NO_SUCH_KEY}' } },
}

const COMMANDS = [
  [],
  ['exec', '-c', 'len(runtime.discovered_servers())'],
  ['exec', '-c', 'await mcp_alpha.get_sum(a=2, b=40)'],
  ['exec', '-t', '60', '-c', 'print(await mcp_slow.echo(message="at last"))'],
  ['exec', '-c', '1 +'],
]

it('reads well', { timeout: 180_000 }, async () => {
  const home = makeHome(servers)
  const project = path.join(home, 'project')
  mkdirSync(project)
  writeFileSync(path.join(project, '.mcp.json'), JSON.stringify({ mcpServers: { project: published.everything() } }))
  let session = ''
  for (const args of COMMANDS) {
    // A person is at a terminal only where that is what changes the words.
    const before = args.length === 0 ? ['python3', DRIVER, '[]', process.execPath] : [process.execPath]
    const [command, ...rest] = [...before, CLI, ...args] as [string, ...string[]]
    const env = bridgeEnv(home, { TERM: 'xterm', MCP_BRIDGE_LOG_LEVEL: 'error' })
    const { stdout, stderr, code } = await runProgram(command, rest, env, { cwd: project })
    session += `$ sandbridge ${args.map(quoted).join(' ')}`.trimEnd() + `\n${stdout}${stderr}`
    session += code === 0 ? '\n' : `(exit code ${code})\n\n`
  }
  await expect(normalised(session, home)).toMatchFileSnapshot('first-session.txt')
})

function quoted(word: string): string {
  return /^[\w-]+$/.test(word) ? word : `'${word}'`
}

function normalised(text: string, home: string): string {
  return text
    .replaceAll('\r', '')
    .replaceAll(home, '~')
    .replaceAll(ROOT, '/')
    .replace(/\d+(\.\d+)? m?s\b/g, '… s')
}
