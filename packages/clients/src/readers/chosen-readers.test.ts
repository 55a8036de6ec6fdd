import { expect, it } from 'vitest'
import { chosenReaders, SOURCE_NAMES } from '../../../core/src/config/readers/index.ts'

async function names(...sources: string[]): Promise<string[]> {
  return (await chosenReaders(sources)).map(({ client }) => client)
}

it('all config readers are used by default', async () => {
  expect(await names()).toEqual(SOURCE_NAMES)
  expect(await names('all')).toEqual(SOURCE_NAMES)
})

it('MCP_BRIDGE_SOURCES chooses config readers, in order of precedence', async () => {
  expect(await names('cursor', 'mcps')).toEqual(['mcps', 'cursor'])
})

it('MCP_BRIDGE_SOURCES can leave out config readers', async () => {
  expect(await names('-cursor')).toEqual(SOURCE_NAMES.filter((name) => name !== 'cursor'))
  expect(await names('mcps', 'all', '-zed')).toEqual(SOURCE_NAMES.filter((name) => name !== 'zed'))
  expect(await names('mcps', 'cursor', '-cursor')).toEqual(['mcps'])
})
