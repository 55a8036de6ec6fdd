// This file verifies the commands that show rules, explain a call and import decisions from other clients, with the
// built program.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '../support/bridge-process.ts'
import { writePermissions } from '../support/ruled-bridge.ts'

let home: string
let env: Record<string, string> = {}
const cli = (...args: string[]) => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [CLI, ...args], {
    cwd: home,
    env: bridgeEnv(home, env),
    encoding: 'utf8',
    input: '',
  })
  return { text: stdout + stderr, stdout, status }
}
const write = (file: string, text: string) => {
  mkdirSync(path.dirname(path.join(home, file)), { recursive: true })
  writeFileSync(path.join(home, file), text)
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
  expect(cli('permissions', 'allow', 'hub__create_issue').stdout).toContain('Allowed from now on: hub__create_issue')
  expect(cli('permissions', 'check', 'hub__create_issue').stdout).toMatch(/^allow: allow /)
  expect(cli('permissions', 'check', 'hub__get_issue').stdout).toMatch(/^ask: /)
  expect(cli('permissions', 'allow', 'hub__create_issue').stdout).toContain('allowed already')
  const denied = cli('permissions', 'allow', 'hub__get_issue', 'hub__delete_repo')
  expect(denied.text).toMatch(/hub__delete_repo is denied, and deny beats allow[^]*deny "hub__delete_repo"/)
  expect(denied.status).not.toBe(0)
  expect(cli('permissions', 'check', 'hub__get_issue').stdout).toMatch(/^ask: /)
  expect(JSON.parse(cli('permissions', 'allow', 'hub__get_issue', '--json').stdout)).toEqual({
    allowed: ['hub__get_issue'],
  })
})

it('sandbridge permissions explains the decision on a call', () => {
  writePermissions(home, { ask: [{ tool: 'hub__create_issue', when: 'args.id > 3' }] })
  expect(cli('permissions', 'check', 'hub__create_issue', '{"id": 4}').stdout).toMatch(/^ask: ask .*\n.*args\.id > 3/)
  expect(cli('permissions', 'check', 'mcp__hub__create_issue', '{"id": 3}').stdout).toMatch(/^allow: MCP_BRIDGE/)
  expect(cli('permissions', 'check', 'hub__create_isue').text).toContain('Did you mean create_issue')
  expect(cli('permissions', 'check', 'hub__create_issue', '[]').status).not.toBe(0)
})

it.each([
  [
    'claude-code',
    '.claude/settings.json',
    '{"permissions": {"allow": ["mcp__hub__get_issue", "Bash(ls)", "mcp__*", "mcp__other__x"], "deny": ["mcp__hub__delete_repo"], "ask": ["mcp__hub"]}}',
    { allow: ['hub__get_issue'], ask: ['hub'], deny: ['hub__delete_repo'] },
  ],
  [
    'codex',
    '.codex/config.toml',
    '[mcp_servers.hub]\ncommand = "x"\ndefault_tools_approval_mode = "prompt"\n[mcp_servers.hub.tools.get_issue]\napproval_mode = "approve"\n',
    { ask: ['hub'], allow: [{ server: 'hub', tool: 'get_issue', insteadOfAsking: true }] },
  ],
  [
    'opencode',
    '.config/opencode/opencode.json',
    '{"permission": {"bash": "ask", "hub_*": "ask", "hub_get_*": "allow", "hub_delete_repo": "deny"}}',
    { ask: ['hub'], allow: [{ server: 'hub', tool: 'get_*', insteadOfAsking: true }], deny: ['hub__delete_repo'] },
  ],
  [
    'gemini-cli',
    '.gemini/policies/mine.toml',
    '[[rule]]\nmcpName = "hub"\ntoolName = "delete_repo"\ndecision = "deny"\npriority = 1\n[[rule]]\nmcpName = "hub"\ndecision = "ask_user"\n',
    { deny: ['hub__delete_repo'], ask: ['hub'] },
  ],
  [
    'vscode',
    '.config/Code/User/settings.json',
    '{"chat.tools.eligibleForAutoApproval": {"hub/create_issue": false, "fetch": false}}',
    { ask: ['hub__create_issue'] },
  ],
])('sandbridge permissions imports the decisions made in %s, once', (client, file, text, expected) => {
  writePermissions(home, '// mine\n{"permissions": {}}\n')
  write(file, text)
  expect(cli('permissions', 'import', client, '--yes').stdout).toContain('added to')
  const saved = readFileSync(path.join(home, 'MCPs/permissions.json'), 'utf8')
  expect(saved).toMatch(/^\/\/ mine\n/)
  expect((JSON.parse(saved.replace('// mine\n', '')) as { permissions: unknown }).permissions).toEqual(expected)
  expect(cli('permissions', 'import', client, '--yes').stdout).toContain('Nothing was added')
  expect(readFileSync(path.join(home, 'MCPs/permissions.json'), 'utf8')).toBe(saved)
})

it.each([
  ['claude-code', { CLAUDE_CONFIG_DIR: 'claude' }, 'claude/settings.json', '{"permissions": {"ask": ["mcp__hub"]}}'],
  [
    'codex',
    { CODEX_HOME: 'codex' },
    'codex/config.toml',
    '[mcp_servers.hub]\ndefault_tools_approval_mode = "prompt"\n',
  ],
  ['opencode', { XDG_CONFIG_HOME: 'xdg' }, 'xdg/opencode/opencode.jsonc', '{"permission": {"hub_*": "ask"}}'],
  ['opencode', { OPENCODE_CONFIG: 'mine.json' }, 'mine.json', '{"permission": {"hub_*": "ask"}}'],
  [
    'gemini-cli',
    { GEMINI_CLI_SYSTEM_SETTINGS_PATH: 'gemini.json' },
    'gemini.json',
    '{"mcpServers": {"hub": {"trust": true}}}',
  ],
  [
    'vscode',
    { XDG_CONFIG_HOME: 'xdg' },
    'xdg/Code - Insiders/User/settings.json',
    '{"chat.tools.eligibleForAutoApproval": {"hub/create_issue": false}}',
  ],
])('sandbridge permissions finds the rules of %s where its variable says: %j', (client, variables, file, text) => {
  home = makeHome()
  const servers = { hub: fixtureServer('ruled.mjs', path.join(home, 'journal')) }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
  write(file, text)
  const imported = () =>
    JSON.parse(cli('permissions', 'import', client, '--json').stdout) as { files: string[]; rules: unknown[] }
  expect(imported().files).not.toContain(path.join(home, file))
  env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, path.join(home, value)]))
  const { files, rules } = imported()
  env = {}
  expect(files).toEqual([path.join(home, file)])
  expect(rules).toHaveLength(1)
})
