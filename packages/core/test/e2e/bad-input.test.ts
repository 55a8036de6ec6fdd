// This file verifies that invalid arguments are clear errors and do not affect the session: the next cell runs.
import { decode } from '@toon-format/toon'
import { beforeAll, expect, it } from 'vitest'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const shared = sharedBridge({ servers: { gone: { command: 'no-such-command-here' } } })
beforeAll(() => shared().run('kept = "yes"'))

const LONG = 'z'.repeat(100_000)

it.each([
  ['no code', {}, /'code' is missing/],
  ['empty code', { code: ' \n' }, /'code' is empty/],
  ['code that is a number', { code: 5 }, /'code' must be a string.*number 5/],
  ['code that is a list', { code: ['print(1)'] }, /'code' must be a string.*a list/],
  ['servers that are the one name', { code: '1', servers: 'github' }, /Server 'github' is not available/],
  ['servers that hold a number', { code: '1', servers: [1] }, /'servers' must be a list of server names.*number 1/],
  ['an unknown server', { code: '1', servers: ['nope'] }, /Server 'nope' is not available[\s\S]*Available: gone/],
  ['a timeout of 0', { code: '1', timeout: 0 }, /'timeout' is 0.*at most 120/],
  ['a timeout of -1', { code: '1', timeout: -1 }, /'timeout' is -1/],
  ['a timeout of a billion', { code: '1', timeout: 1e9 }, /'timeout' is 1000000000.*at most 120/],
  ['a timeout that is a word', { code: '1', timeout: 'ten' }, /'timeout' must be a number of seconds.*"ten"/],
  ['an endless name of a server', { code: '1', servers: ['x'.repeat(100_000)] }, /Server 'x+…' is not available/],
  ['no code, beside an endless name', { ['y'.repeat(100_000)]: 1 }, /'code' is missing/],
  ['endless values', { code: [LONG], servers: { LONG }, timeout: LONG }, /'code' must be a string.*a list/],
])('run_python refuses %s', async (_, args, expected) => {
  const { isError, text, structured } = await shared().call(args)
  expect(isError).toBe(true)
  expect(text).toMatch(expected)
  expect(text.length + JSON.stringify(structured ?? '').length).toBeLessThan(1_000)
  expect(await shared().run('kept')).toBe("'yes'")
})

it.each(['language', 'y'.repeat(100_000)])('an unknown argument is ignored, and the result says so', async (name) => {
  const { isError, text } = await shared().call({ code: '1 + 1', [name]: 'js' })
  expect(isError).toBe(false)
  expect(text).toMatch(
    /^2\n[^]*The argument '(language|y+…)' was ignored: run_python takes code, servers and timeout\./,
  )
  expect(text.length).toBeLessThan(300)
})

it('a server that cannot start is an exception that names it, without its command', async () => {
  const { text, isError } = await shared().call({ code: 'await mcp_gone.anything()', servers: ['gone'] })
  expect(isError).toBe(true)
  expect(text).toMatch(/'gone' could not be started/)
  expect(
    await shared().run('try:\n    await mcp_gone.anything()\nexcept runtime.MCPError as error:\n    print(error.code)'),
  ).toBe('UPSTREAM_UNREACHABLE')
})

it('code with a byte order mark runs', async () => {
  expect(await shared().run('\uFEFF1 + 1')).toBe('2')
})

it.each([
  ['json', (text: string) => JSON.parse(text) as unknown],
  ['toon', (text: string) => decode(text) as unknown],
])('errors before a run are written in the output mode %s, too', async (mode, parse) => {
  const formal = await startBridge({ env: { MCP_BRIDGE_OUTPUT_MODE: mode } })
  for (const [args, code] of [
    [{ code: 5 }, 'TOOL_ARGUMENTS_INVALID'],
    [{ code: '1', servers: ['nope'] }, 'PROXY_SERVER_UNAVAILABLE'],
  ] as const) {
    const { isError, text, structured } = await formal.call(args)
    expect(isError).toBe(true)
    expect(parse(text)).toMatchObject({ status: 'error', error: { code } })
    expect(parse(text)).toEqual(structured)
  }
  expect(parse((await formal.call({ code: '1/0' })).text)).toMatchObject({ error: { name: 'ZeroDivisionError' } })
})
