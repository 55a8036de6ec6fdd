import { describe, expect, it } from 'vitest'
import type { ToolResult, UpstreamTool } from '../upstream/upstream.ts'
import { shapeOfResult } from './catalog/model/learned-types.ts'
import { resultForSandbox } from './tool-result.ts'

const hello = { type: 'text', text: 'hello' }
const given = (result: unknown, outputSchema?: unknown): ToolResult => {
  const definition: UpstreamTool = { name: 't', ...(outputSchema !== undefined && { outputSchema }) }
  return resultForSandbox({ server: 's', name: 't', definition }, result as ToolResult, false)
}

describe('results of servers that do not keep to the specification', () => {
  it('structured content that is null is none: the text stays', () => {
    expect(given({ content: [hello], structuredContent: null })).toEqual({ content: [hello] })
    expect(given({ content: [hello], structuredContent: null }, { type: 'object' })).toEqual({ content: [hello] })
  })

  it('an empty object in place of structured content is none beside a text, unless the tool has an output schema', () => {
    const result = { content: [hello], structuredContent: {} }
    expect(given(result)).toEqual({ content: [hello] })
    expect(shapeOfResult(result)).toEqual({ type: ['string'] })
    expect(given(result, { type: 'object' })).toEqual({ content: [], structuredContent: {} })
    expect(given({ content: [], structuredContent: {} })).toEqual({ content: [], structuredContent: {} })
  })

  it('a single block in place of a list is a list of one', () => {
    expect(given({ content: hello })).toEqual({ content: [hello] })
    expect(shapeOfResult({ content: hello } as never)).toEqual({ type: ['string'] })
  })

  it('only `isError: true` is an error', () => {
    expect(given({ content: [hello], isError: 'false' })).toEqual({ content: [hello] })
    expect(() => given({ content: [hello], isError: true })).toThrow('hello')
  })
})

it('a text that repeats structured content is left out', () => {
  const image = { type: 'image', data: '', mimeType: 'image/png' }
  expect(given({ content: [hello, image], structuredContent: { a: 1 } })).toEqual({
    content: [image],
    structuredContent: { a: 1 },
  })
})

it('a text that has integers exactly, which structured content has rounded, is what is passed on', () => {
  const json = '{"id": 9007199254740993, "open": [1]}'
  const text = { type: 'text', text: json }
  const parsed: unknown = JSON.parse(json)
  expect(given({ content: [text], structuredContent: parsed })).toEqual({ content: [text] })
  expect(given({ content: [text], structuredContent: { result: parsed } })).toEqual({ content: [text] })
  // Controls: another text, nothing rounded, and what is no JSON for the sandbox.
  for (const [other, structuredContent] of [
    [hello, parsed],
    [{ type: 'text', text: '{"id": 2, "open": [1]}' }, parsed],
    [{ type: 'text', text: '{no JSON}' }, parsed],
    [{ type: 'text', text: '{"id": 2}' }, { id: 2 }],
    [{ type: 'text', text: '9007199254740993' }, { result: 9_007_199_254_740_992 }],
  ])
    expect(given({ content: [other], structuredContent })).toEqual({ content: [], structuredContent })
})
