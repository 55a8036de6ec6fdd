// @module-tag whole: commands, one of them in a terminal
// This file verifies `sandbridge uninstall`: what it takes away, and what it keeps without a yes.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, BUILT_CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { inTerminal, needsTerminal } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'

/** A home in which init has registered the bridge in Cursor; another entry was written by hand. */
async function installed() {
  const home = makeHome()
  const at = (name: string): string => path.join(home, name)
  const env = bridgeEnv(home, { MCP_BRIDGE_CACHE_DIR: at('sandbridge-cache'), TERM: 'dumb' })
  for (const [file, text] of Object.entries({
    '.cursor/mcp.json': '{"mcpServers":{}}',
    '.gemini/settings.json': '{"mcpServers":{"sandbridge":{"command":"npx","args":["-y","sandbridge"]}}}',
    'sandbridge-cache/kept.txt': '',
    'MCPs/servers.json': '{"mcpServers":{}}',
  })) {
    mkdirSync(path.dirname(at(file)), { recursive: true })
    writeFileSync(at(file), text)
  }
  const run = (...args: string[]) => runProgram(process.execPath, [BUILT_CLI, ...args], env)
  expect((await run('init', '--yes', '--client', 'cursor')).code).toBe(0)
  expect(readFileSync(at('.cursor/mcp.json'), 'utf8')).toContain('sandbridge')
  mkdirSync(at('MCPs/.sandbridge/artifacts'), { recursive: true })
  return { at, run, env }
}

it('uninstall --yes takes the bridge out of clients, deletes the cache, and keeps and names what is the user’s', async () => {
  const { at, run } = await installed()
  const refused = await run('uninstall')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Pass --yes') })
  expect(existsSync(at('sandbridge-cache/kept.txt'))).toBe(true)
  const { code, stdout, stderr } = await run('uninstall', '--yes')
  expect([code, stderr]).toEqual([0, ''])
  expect(readFileSync(at('.cursor/mcp.json'), 'utf8')).toBe('{"mcpServers":{}}')
  expect(existsSync(at('sandbridge-cache'))).toBe(false)
  expect(stdout).toContain('gemini-cli has an entry that init did not write')
  expect(stdout).toContain(`Yours, and kept: ${at('MCPs')}`)
  expect([existsSync(at('MCPs/.sandbridge/artifacts')), existsSync(at('MCPs/.sandbridge/init'))]).toEqual([true, false])
  expect(stdout).toMatch(/npm uninstall -g sandbridge\n$/)
})

it('uninstall deletes sign-ins, artifacts and the audit log after a yes in the terminal, and no file of the user', async () => {
  needsTerminal()
  const { at, env } = await installed()
  await inTerminal([process.execPath, BUILT_CLI, 'uninstall'], env, {
    steps: [
      ['Go on? [y/N]', 'y\n'],
      ['audit log, too', 'y\n'],
    ],
  })
  expect([existsSync(at('MCPs/.sandbridge')), existsSync(at('MCPs/servers.json'))]).toEqual([false, true])
})
