import { expect, it } from 'vitest'
import { describeServers } from './describe-servers.ts'

const commandOf = (command: string) => {
  const transport = { type: 'stdio' as const, command, args: [], env: {} }
  return describeServers([{ name: 's', transport, source: { client: 'test', file: '/f' } }])[0]?.command
}

it.each([
  ['npx', 'npx'],
  ['/usr/local/bin/github-mcp-server', 'github-mcp-server'],
  ['python3.12', 'python3.12'],
  ['uvx --from x y', 'uvx'],
  ['mcp-server-v2-2024.11.5', 'mcp-server-v2-2024.11.5'],
  ['C:\\Program Files\\nodejs\\npx.cmd', 'npx.cmd'],
  ['/opt/kubectl-mcp_2', 'kubectl-mcp_2'],
])('the command %j is shown as %j', (command, shown) => {
  expect(commandOf(command)).toBe(shown)
})

it.each([
  'TOKEN=abc npx server',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'sk-ant-api03-AbCdEfGhIjKlMnOp',
  '/opt/canary-command-7Qz9xK2mWv',
  'https://user:password@example.com',
  'user:password@example.com',
  '2f9d8e7c6b5a4f3e2d1c',
])('the command %j is not shown at all', (command) => {
  expect(commandOf(command)).toBe('')
})

it('a server is still recognisable once its secrets are removed', () => {
  const hidden = { args: ['--token', 'a', '--key=b'], cwd: '/c', envFile: '/d' }
  const stdio = { type: 'stdio' as const, command: '/opt/e/server', env: { KEY: 'f' }, ...hidden }
  const url = 'https://ann:g@example.com:8443/h?key=i#j'
  const remote = { type: 'http' as const, url, headers: { Authorization: 'Bearer k' } }
  const source = { client: 'mcps', file: '/f' }
  const told = describeServers([stdio, remote].map((transport) => ({ name: 's', transport, source })))
  const common = { name: 's', client: 'mcps', file: '/f', trusted: true }
  expect(told).toEqual([
    { ...common, type: 'stdio', command: 'server', argsCount: 3, env: ['KEY'] },
    { ...common, type: 'http', origin: 'https://example.com:8443', headers: ['Authorization'] },
  ])
})
