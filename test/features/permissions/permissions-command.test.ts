// This file verifies the commands that show rules and explain a call, with the built program.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '../../support/bridge-process.ts'
import { writePermissions } from '../../support/ruled-bridge.ts'

let home: string
const cli = (...args: string[]) => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [CLI, ...args], {
    cwd: home,
    env: bridgeEnv(home),
    encoding: 'utf8',
    input: '',
  })
  return { text: stdout + stderr, stdout, status }
}

beforeAll(() => {
  home = makeHome()
  const servers = { hub: fixtureServer('ruled.mjs', path.join(home, 'journal')) }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
  expect(cli('index').status).toBe(0)
})

it('sandbridge permissions lists the decision for each tool, and rules that match none', () => {
  writePermissions(home, {
    deny: ['hub__delete_*', 'hub__delte_repo'],
    ask: [{ tool: 'hub__create_issue', when: 'args.id > 3' }],
  })
  const { stdout } = cli('permissions')
  expect(stdout).toMatch(/hub__delete_repo +denied +deny "hub__delete_\*" \(permissions.json, line 1\)/)
  expect(stdout).toMatch(/hub__create_issue +depends +ask/)
  expect(stdout).toMatch(/hub__get_issue +allowed +MCP_BRIDGE_PERMISSIONS=open/)
  expect(stdout).toMatch(/No known tool matches the rule deny "hub__delte_repo".*Did you mean hub__delete_repo/)
  expect(JSON.parse(cli('permissions', '--json').stdout)).toMatchObject({
    preset: 'open',
    unmatched: [/delte/].map(() => expect.any(String)),
  })
  expect(cli('doctor').text).toContain('Did you mean hub__delete_repo')
})

it('sandbridge permissions allows a tool permanently that asks, and none that is denied', () => {
  writePermissions(home, { ask: ['hub'], deny: ['hub__delete_repo'] })
  expect(cli('permissions', '--allow', 'hub__create_issue').stdout).toContain('Allowed from now on: hub__create_issue')
  expect(cli('permissions', 'hub__create_issue').stdout).toMatch(/^allow: allow /)
  expect(cli('permissions', 'hub__get_issue').stdout).toMatch(/^ask: /)
  expect(cli('permissions', '--allow', 'hub__create_issue').stdout).toContain('allowed already')
  const denied = cli('permissions', '--allow', 'hub__get_issue', 'hub__delete_repo')
  expect(denied.text).toMatch(/hub__delete_repo is denied, and deny beats allow[^]*deny "hub__delete_repo"/)
  expect(denied.status).not.toBe(0)
  expect(cli('permissions', 'hub__get_issue').stdout).toMatch(/^ask: /)
  expect(JSON.parse(cli('permissions', '--allow', 'hub__get_issue', '--json').stdout)).toEqual({
    allowed: ['hub__get_issue'],
  })
})

it('sandbridge permissions explains the decision on a call', () => {
  writePermissions(home, { ask: [{ tool: 'hub__create_issue', when: 'args.id > 3' }] })
  expect(cli('permissions', 'hub__create_issue', '{"id": 4}').stdout).toMatch(/^ask: ask .*\n.*args\.id > 3/)
  expect(cli('permissions', 'mcp__hub__create_issue', '{"id": 3}').stdout).toMatch(/^allow: MCP_BRIDGE/)
  expect(cli('permissions', 'hub__create_isue').text).toContain('Did you mean create_issue')
  expect(cli('permissions', 'hub__create_issue', '[]').status).not.toBe(0)
})
