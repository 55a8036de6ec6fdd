// This file verifies that rules and questions judge what is sent: no argument reaches a server as another value than
// the one that was judged.
import { expect, it } from 'vitest'
import { ruledBridge } from '../support/bridges/ruled-bridge.ts'

it('an argument that JSON cannot carry is refused before it is judged, asked about or sent, and others arrive as judged', async () => {
  const { bridge, reached, questions } = await ruledBridge({
    permissions: { deny: [{ tool: 'hub__get_issue', when: 'args.id > 100' }], ask: ['hub__create_issue'] },
    answer: 'yes, this once',
  })
  // Only the call itself shows its arguments: no check before the cell sees them.
  const call = (tool: string, value: string) => `
given = {"id": ${value}}
try:
    print(await mcp_hub.${tool}(**given))
except runtime.MCPError as error:
    print(error.code, error)
`
  const values = ['[1, {"a": float("inf")}]', 'float("nan")', 'float("-inf")']
  for (const value of values)
    for (const tool of ['get_issue', 'create_issue'])
      expect(await bridge.run(call(tool, value)), value).toMatch(/^PROXY_ARGUMENTS_INVALID .*JSON/)
  expect([questions, reached()]).toEqual([[], []])

  for (const value of ['1e308', '101', '10**400'])
    expect(await bridge.run(call('get_issue', value))).toContain('is denied')
  for (const value of ['100', '-1e308', '{"a": "\\ud800"}']) await bridge.run(call('create_issue', value))
  const sent = [100, -1e308, { a: '\ud800' }].map((id) => ['create_issue', { id }])
  expect(reached()).toEqual(sent)
  expect(questions).toHaveLength(sent.length)
})
