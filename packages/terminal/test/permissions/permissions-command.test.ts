// This file verifies the commands that show rules and explain a call, with the built program.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { writePermissions } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

let home: string
const cli = async (...args: string[]) => {
  const { stdout, stderr, code } = await runCommand(args, bridgeEnv(home), { cwd: home })
  return { text: stdout + stderr, stdout, code }
}

beforeAll(async () => {
  home = makeHome()
  const servers = { hub: fixtureServer('ruled.mjs', path.join(home, 'journal')) }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
  expect((await cli('index')).code).toBe(0)
})

it('sandbridge permissions lists the decision for each tool, and rules that match none', async () => {
  writePermissions(home, {
    deny: ['hub__delete_*', 'hub__delte_repo'],
    ask: [{ tool: 'hub__create_issue', when: 'args.id > 3' }],
  })
  const { stdout } = await cli('permissions')
  expect(stdout).toMatch(/hub__delete_repo +denied +deny "hub__delete_\*" \(permissions.json, line 1\)/)
  expect(stdout).toMatch(/hub__create_issue +depends +ask/)
  expect(stdout).toMatch(/hub__get_issue +allowed +MCP_BRIDGE_PERMISSIONS=open/)
  expect(stdout).toMatch(/No known tool matches the rule deny "hub__delte_repo".*Did you mean hub__delete_repo/)
  expect(JSON.parse((await cli('permissions', '--json')).stdout)).toMatchObject({
    preset: 'open',
    unmatched: [/delte/].map(() => expect.any(String)),
  })
  expect((await cli('doctor')).text).toContain('Did you mean hub__delete_repo')
})

it('sandbridge permissions allows a tool permanently that asks, and none that is denied', async () => {
  writePermissions(home, { ask: ['hub'], deny: ['hub__delete_repo'] })
  expect((await cli('permissions', '--allow', 'hub__create_issue')).stdout).toContain(
    'Allowed from now on: hub__create_issue',
  )
  expect((await cli('permissions', 'hub__create_issue')).stdout).toMatch(/^allow: allow /)
  expect((await cli('permissions', 'hub__get_issue')).stdout).toMatch(/^ask: /)
  expect((await cli('permissions', '--allow', 'hub__create_issue')).stdout).toContain('allowed already')
  const denied = await cli('permissions', '--allow', 'hub__get_issue', 'hub__delete_repo')
  expect(denied.text).toMatch(/hub__delete_repo is denied, and deny beats allow[^]*deny "hub__delete_repo"/)
  expect(denied.code).not.toBe(0)
  expect((await cli('permissions', 'hub__get_issue')).stdout).toMatch(/^ask: /)
  expect(JSON.parse((await cli('permissions', '--allow', 'hub__get_issue', '--json')).stdout)).toEqual({
    allowed: ['hub__get_issue'],
  })
})

it('sandbridge permissions --allow names a rule that still denies some calls', async () => {
  writePermissions(home, { ask: ['hub'], deny: [{ tool: 'hub__delete_repo', when: 'args.id > 3' }] })
  const { stdout } = await cli('permissions', '--allow', 'hub__delete_repo', 'hub__get_issue')
  expect(stdout).toBe(
    'Allowed from now on: hub__delete_repo, hub__get_issue\n' +
      'Calls of hub__delete_repo that this rule denies stay denied: ' +
      'deny {"tool":"hub__delete_repo","when":"args.id > 3"} (permissions.json, line 1)\n',
  )
  // The control.
  expect((await cli('permissions', 'hub__delete_repo', '{"id": 4}')).stdout).toMatch(/^deny: /)
  expect((await cli('permissions', 'hub__delete_repo', '{"id": 3}')).stdout).toMatch(/^allow: /)
})

it('sandbridge permissions explains the decision on a call', async () => {
  writePermissions(home, { ask: [{ tool: 'hub__create_issue', when: 'args.id > 3' }] })
  expect((await cli('permissions', 'hub__create_issue', '{"id": 4}')).stdout).toMatch(/^ask: ask .*\n.*args\.id > 3/)
  expect((await cli('permissions', 'mcp__hub__create_issue', '{"id": 3}')).stdout).toMatch(/^allow: MCP_BRIDGE/)
  expect((await cli('permissions', 'hub__create_isue')).text).toContain('Did you mean create_issue')
  expect((await cli('permissions', 'hub__create_issue', '[]')).code).not.toBe(0)
})
