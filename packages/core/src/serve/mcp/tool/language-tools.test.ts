import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, it } from 'vitest'
import { languageTool } from './language-tools.ts'

it.each([
  ['bash', false],
  ['bash', true],
  ['javascript', false],
  ['javascript', true],
] as const)('the tool of %s is described in at most 100 tokens, with session handles: %s', (language, byHandle) => {
  const tool = languageTool(language, byHandle)
  expect(encode(JSON.stringify(tool)).length).toBeLessThanOrEqual(100)
  expect(Object.keys(tool.inputSchema.properties)).toEqual([
    'code',
    'servers',
    'timeout',
    ...(byHandle ? ['session'] : []),
  ])
})
