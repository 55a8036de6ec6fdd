import { expect, it } from 'vitest'
import { namedServers } from '../bridge/tenants/start-servers.ts'

const SERVERS = [
  { name: 'github', alias: 'github' },
  { name: 'my-files', alias: 'my_files' },
]

it.each([
  ['await mcp_github.get_me()', ['github']],
  ['mcp_servers["my-files"].read(path="/")', ['my-files']],
  ["mcp_servers [ 'my_files' ]", ['my-files']],
  ['from mcp.servers.my_files import *', ['my-files']],
  ['import mcp.servers.github as g', ['github']],
  ['from mcp.servers import github', ['github']],
  ['await runtime.call_tool("github", "get_me")', ['github']],
  ['a, b = await gather(mcp_my_files.read(), mcp_github.get_me())', ['github', 'my-files']],
  ['mcp_githubby.x(); github = 1; mcp_gitlab.x()', []],
  ['print("github")', []],
])('the code %s names the servers %j', (code, expected) => {
  expect(namedServers(code, SERVERS).map(({ name }) => name)).toEqual(expected)
})

it('the servers that a bash cell calls are found', () => {
  const code = 'mcp search x; y=$(mcp "github" create_issue) && mcp  my_files read | mcp_github'
  expect(namedServers(code, SERVERS, 'bash').map(({ name }) => name)).toEqual(['github', 'my-files'])
  expect(namedServers('mcp gitlab x; mcp_github; echo github', SERVERS, 'bash')).toEqual([])
})

it('the servers that a JavaScript cell calls are found', () => {
  const code = "await github.createIssue(); await mcp_servers['my-files'].read(); x.github2.y()"
  expect(namedServers(code, SERVERS, 'javascript').map(({ name }) => name)).toEqual(['github', 'my-files'])
  expect(namedServers('mcp_my_files.read()', SERVERS, 'javascript').map(({ name }) => name)).toEqual(['my-files'])
  expect(namedServers('x.github.y(); $github.z(); "github"', SERVERS, 'javascript')).toEqual([])
})

it('finding the servers that a cell names takes time linear in its length', () => {
  expect(namedServers('a'.repeat(1_000_000), SERVERS, 'javascript')).toEqual([])
  expect(namedServers('mcp_servers['.repeat(1_000_000) + ' '.repeat(1_000_000), SERVERS)).toEqual([])
})
