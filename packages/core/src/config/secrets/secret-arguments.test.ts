import { expect, it } from 'vitest'
import { commandLine } from './command-line.ts'
import { secretArguments } from './secret-arguments.ts'

it.each([
  [['--api-key', 'abcd1234']],
  [['--token=abcd1234']],
  [['API_KEY=abcd1234']],
  [['run', '-e', 'HOST=abcd1234']],
  [['--header', 'X-Any: abcd1234']],
  [['ghp_abcd1234']],
  [['p9Kx2mQv7Zt4']],
])('the command %j has a secret that is found', (args) => {
  const secrets = secretArguments(args)
  expect(secrets).toHaveLength(1)
  expect(args.join(' ')).toContain(secrets[0])
})

it.each([
  [['-y', '@modelcontextprotocol/server-everything@2026.8.31']],
  [['mcp-server-sqlite', '--db-path', '/home/bob/data.db']],
  [['/opt/servers/oauth2proxy/index.js', 'https://example.com/v1/mcp']],
  [['--port', '8080', '--transport', 'stdio', '--log-level=debug']],
  [['--token', '${GITHUB_TOKEN}']],
  [['mcp-remote', 'https://mcp.example.com/sse', 'modelContextProtocolServer']],
])('the command %j has no secret', (args) => {
  expect(secretArguments(args)).toEqual([])
})

it('a command is shown as it is written, without its secrets', () => {
  const args = ['-y', 'some server', '--key=${KEY}', '--token', 'abcd1234', 'postgres://bob:hunter2@db/main']
  expect(commandLine({ type: 'stdio', command: 'npx', args, env: {} })).toBe(
    'npx -y "some server" --key=${KEY} --token [redacted] postgres://bob:[redacted]@db/main',
  )
  const url = 'https://example.com/mcp?key=abcd1234&x=${NAME}'
  expect(commandLine({ type: 'http', url, headers: {} })).toMatch(/^https:\/\/example\.com\/mcp\?key=\[redacted\]/)
})
