// This file verifies that a profile limits a bridge to its servers, and that a mistake in a profile is reported.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

it('a bridge has the servers of its profile, and applies its changes', async () => {
  const server = fixtureServer('documented.mjs', 'github')
  const home = makeHome({ github: server, jira: { ...server, env: { A: '1' } }, mail: { ...server, env: { A: '2' } } })
  const run = (args: string[], env: Record<string, string> = {}) =>
    runCommand(args, bridgeEnv(home, env), { cwd: home })
  const names = async (profile: string) => {
    const { stdout } = await run(['servers', '--json'], { MCP_BRIDGE_PROFILE: profile })
    return (JSON.parse(stdout) as { servers: { name: string }[] }).servers.map(({ name }) => name)
  }
  expect((await run(['profile', 'work', 'github', 'jirra'])).stderr).toContain("There is no server 'jirra'")
  expect((await run(['profile', 'work', 'github', 'jira'])).code).toBe(0)
  expect(await names('work')).toEqual(['github', 'jira'])
  const bare = bridgeEnv(makeHome())
  expect((await runCommand(['profile', 'work', 'github'], bare)).stderr).toContain('Add servers as')
  expect((await runCommand(['profile', '--remove', 'work'], bare)).stderr).toContain('There are none yet.')
  const missing = await run(['servers'], { MCP_BRIDGE_PROFILE: 'wrk' })
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean work?') as string })
  expect(missing.stderr).toContain('The setting servers.profile or MCP_BRIDGE_PROFILE names it')
  const bridge = await startBridge({ home, env: { MCP_BRIDGE_PROFILE: 'work' } })
  expect(await bridge.run('list(mcp_servers), "mcp_mail" in globals()')).toBe("(['github', 'jira'], False)")
  await run(['profile', 'work', 'mail'], { MCP_BRIDGE_PROFILE: 'work' })
  expect(await bridge.run('list(mcp_servers)')).toBe("['mail']")
  expect((await run(['profile', '--json'])).stdout).toContain('"mail"')
  expect((await run(['profile', '--remove', 'work'])).stdout).toBe('Deleted the profile work.\n')
})

it('a profile has rules of its own beside the general ones', async () => {
  const home = makeHome({ github: fixtureServer('documented.mjs', 'github') })
  const CHECK = ['permissions', 'github__create_issue', '{}']
  const rules = (name: string, deny: string[]) =>
    writeFileSync(path.join(home, 'MCPs', name), JSON.stringify({ permissions: { deny } }))
  const shown = async (env: Record<string, string>) => {
    const run = await runCommand([...CHECK], bridgeEnv(home, env), { cwd: home })
    return run.stdout + run.stderr
  }
  expect((await runCommand(['profile', 'work', 'github'], bridgeEnv(home))).code).toBe(0)
  rules('permissions.json', ['github__delete*'])
  rules('permissions-work.json', ['github__create*'])
  const work = await shown({ MCP_BRIDGE_PROFILE: 'work' })
  expect(work).toContain('deny "github__create*" (permissions-work.json, line 1)')
  expect(await shown({})).toContain('allow: MCP_BRIDGE_PERMISSIONS=open')
  writeFileSync(path.join(home, 'MCPs/permissions-work.json'), '{')
  expect(await shown({ MCP_BRIDGE_PROFILE: 'work' })).toMatch(/permissions-work\.json:1:\d/)
})
