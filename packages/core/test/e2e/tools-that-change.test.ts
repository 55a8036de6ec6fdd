// This file verifies servers whose tools change while a cell runs: what is new can be called at once.
import { expect, it } from 'vitest'
import { fixtureServer } from '../support/bridges/bridge-process.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

/** A call in `try` is not checked before the cell runs. */
const inTry = (call: string) => `try:\n    print(await ${call})\nexcept runtime.ToolNotFound:\n    print('not there')`

it.each([
  ['legacy', fixtureServer('raw.mjs', 'changes'), 'mcp_one.echo()', 'mcp_one.later()'],
  ['modern', fixtureServer('grows.mjs'), 'mcp_one.grow()', 'mcp_one.grown()'],
])(
  'a tool that a call brings about can be called in the same cell and in the next (%s)',
  async (_era, one, grow, grown) => {
    const bridge = await startBridge({ servers: { one } })
    expect(await bridge.run(inTry(grown))).toBe('not there')
    // The control: nothing has changed yet, so the cell is not even begun.
    expect(await bridge.run(`print('begun')\nawait ${grown}`)).toMatch(/^(?![^]*begun)[^]*Not run/)
    const name = grown.slice('mcp_one.'.length, -2)
    const search = `print(await runtime.search_tool_docs('${name}'))`
    expect(await bridge.run(search)).not.toContain(grown.slice(0, -1))
    // The server tells of the change before it answers or after it.
    expect(await bridge.run(`await ${grow}\nimport asyncio\nawait asyncio.sleep(0.02)\n${search}`)).toContain(
      grown.slice(0, -1),
    )
    expect(await bridge.run(`await ${grow}\n${inTry(grown)}`)).not.toContain('not there')
    expect(await bridge.run(`print(await ${grown})`)).not.toContain('ToolNotFound')
  },
)

it('a tool that a server brought about is there in an immediate next cell, and a wrong name in it is still told', async () => {
  const bridge = await startBridge({ servers: { one: fixtureServer('grows.mjs') } })
  await bridge.run('await mcp_one.grow()')
  expect(await bridge.run('print(await mcp_one.grown())')).toBe('it is here')
  const wrong = await bridge.run('print("begun")\nawait mcp_one.groan()')
  expect(wrong).toContain('begun')
  expect(wrong).toMatch(/no tool 'groan'\. Did you mean grow/)
})
