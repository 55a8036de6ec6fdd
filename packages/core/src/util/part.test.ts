import { expect, it } from 'vitest'
import { Part } from './part.ts'

it('loads where packages/sandbridge/src/packages.ts says, and names what asked for a part that is not in this build', async () => {
  const part = new Part<{ answer: number }>('Oracles')
  await expect(part.for('MCP_BRIDGE_ORACLE')).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'MCP_BRIDGE_ORACLE needs Oracles, which is not in this build',
    hint: 'Do without it, or install a build of Sandbridge that has Oracles.',
  })
  part.at(() => Promise.resolve({ answer: 42 }))()
  expect(await part.for('MCP_BRIDGE_ORACLE')).toEqual({ answer: 42 })
})
