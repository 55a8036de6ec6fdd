// Fuzzes a server's responses: whatever it sends, the call returns a value or raises an MCPError, and the session keeps
// its variables.
import {
  closeTestBridge,
  fixtureServer,
  openTestBridge,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { assertHolds, type Family } from './family.ts'

const seeds = [
  { content: [{ type: 'text', text: '{"rows": [{"id": 1, "name": "é"}]}' }] },
  { content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }], isError: false },
  { content: [], structuredContent: { result: [1, 2.5, null, 'x'], total: 3 } },
  { content: [{ type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA', mimeType: 'text/plain' } }] },
  { content: [{ type: 'text', text: 'it failed' }], isError: true, _meta: { a: 1 } },
]

let bridge: TestBridge | undefined

export const answers: Family = {
  name: 'answers',
  seeds: seeds.map((result) => Buffer.from(JSON.stringify(result))),
  shortRuns: 150,
  async attempt(input) {
    if (!bridge) {
      bridge = await openTestBridge({ servers: { anything: fixtureServer('says-anything.mjs') } })
      await bridge.run('kept = 42')
    }
    // A line ends at LF: the rest would be further messages.
    const hex = Buffer.from(input.filter((byte) => byte !== 0x0a)).toString('hex')
    const text = await bridge.run(
      `try:\n    value = await mcp_anything.say(hex="${hex}")\n    str(value)[:10]\nexcept runtime.MCPError as error:\n    str(error)\nprint("kept", kept)`,
      { timeout: 60 },
    )
    assertHolds(
      /^kept 42$/m.test(text),
      `a call ends with a value or an MCPError, and variables stay; got ${text.slice(0, 300)}`,
    )
  },
  async close() {
    if (bridge) await closeTestBridge(bridge)
    bridge = undefined
  },
}
