import { expect, it } from 'vitest'
import { completionsIn } from './completions.ts'

it.each([
  ['mcp_git', 'mcp_git'],
  ['mcp_servers["my fi', 'my fi'],
  ['await mcp_x.read_resource("file:///my fi', 'file:///my fi'],
  ['await mcp_x._get_prompt("review (all)", of=\'a b', 'a b'],
  ['await mcp_x.echo("my fi', 'fi'],
])('a completion of %s replaces %s', async (code, replaced) => {
  expect(await completionsIn(async () => ({ stdout: '["w"]' }), code)).toEqual({ words: ['w'], replaced })
})
