// This file verifies that a tool is called with arguments that its schema does not list, in Python, JavaScript and
// bash.
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/bridges/bridge-process.ts'
import { providerOrSkip, runtimeEnv } from '../support/sandboxes/engines.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const servers = {
  notes: {
    command: process.execPath,
    args: [path.join(ROOT, 'packages/core/test/fixtures/servers/raw.mjs'), 'unlisted'],
  },
}
const REFUSED = /unknown argument "vault".*To send it all the same: await runtime\.call_tool\("notes", "some", \{…\}\)/s

describe('arguments that a schema does not list', () => {
  const shared = sharedBridge({ servers, env: { MCP_BRIDGE_LANGUAGES: 'python,javascript' } })

  it('Python sends them by keyword where the schema lists none, and the signature says so', async () => {
    expect(await shared().run('print(await mcp_notes.list_tools())')).toContain('await mcp_notes.none(**arguments)')
    expect(await shared().run('await mcp_notes.none(vault="v", lines=[1])')).toBe(`'got {"vault":"v","lines":[1]}'`)
  })

  it('Python refuses one beside listed ones as a slip, and call_tool sends it', async () => {
    expect((await shared().call({ code: 'await mcp_notes.some(vault="v")' })).text).toMatch(REFUSED)
    expect(await shared().run('await runtime.call_tool("notes", "some", {"vault": "v"})')).toBe(`'got {"vault":"v"}'`)
  })

  it('JavaScript does the same', async () => {
    const js = async (code: string) => (await shared().callTool('run_javascript', { code })).text
    expect(await js('await notes.none({ vault: "v" })')).toContain('got {"vault":"v"}')
    expect(await js('await notes.some({ vault: "v" })')).toMatch(REFUSED)
    expect(await js('await runtime.call_tool("notes", "some", { vault: "v" })')).toContain('got {"vault":"v"}')
  })
})

it('bash sends them as an option where the schema lists none, and with --json where it lists some', async () => {
  await providerOrSkip('bubblewrap')
  const bridge = await startBridge({ servers, env: { ...runtimeEnv('bubblewrap'), MCP_BRIDGE_LANGUAGES: 'bash' } })
  const code = `mcp notes none --vault v; mcp notes some --vault v; mcp notes some --json '{"vault": "v"}'`
  const { text } = await bridge.callTool('run_bash', { code })
  expect(text.match(/got \{"vault":"v"\}/g)).toHaveLength(2)
  expect(text).toMatch(/unknown argument "vault".*To send it all the same: --json '\{…\}'/s)
})
