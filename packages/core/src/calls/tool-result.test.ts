import { describe, expect, it } from 'vitest'
import type { ToolResult, UpstreamTool } from '../upstream/upstream.ts'
import { shapeOfResult } from './catalog/model/learned-types.ts'
import type { CatalogTool } from './catalog/model/catalog-tool.ts'
import { encodeFrame } from '../cell/protocol/codec.ts'
import { leftOutNote, resultForSandbox, roundedNote } from './tool-result.ts'

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

  it('an error without a text says what its files and its data say', () => {
    const file = { type: 'resource', resource: { uri: 'a://b', text: 'the table is locked' } }
    const structuredContent = { error: 'quota exceeded' }
    expect(() => given({ content: [file], structuredContent, isError: true })).toThrow(/^the table is locked$/)
    expect(() => given({ content: [], structuredContent, isError: true })).toThrow('{"error":"quota exceeded"}')
    expect(() => given({ content: [], isError: true })).toThrow('s.t failed without a message')
  })
})

it('structured content that looks like a box is whole where the output schema has other fields, too', () => {
  const box = { content: [1] }
  const schemaOf = (...names: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((n) => [n, {}])),
  })
  const page = schemaOf('content', 'nextCursor')
  const isWhole = (value: unknown, schema?: unknown) =>
    'isWhole' in given({ content: [], structuredContent: value }, schema)
  expect(isWhole(box, page)).toBe(true)
  expect(isWhole(box, schemaOf('items'))).toBe(true)
  expect(isWhole(box, { $ref: '#/$defs/page', $defs: { page } })).toBe(true)
  // Controls: a box, an unknown schema, and what nobody takes for a box.
  expect(isWhole(box, schemaOf('content'))).toBe(false)
  expect(isWhole(box, { type: 'object' })).toBe(false)
  expect(isWhole(box)).toBe(false)
  expect(isWhole({ content: [1], nextCursor: 'a' }, page)).toBe(false)
})

it('links and files beside structured content are told of, unless it has them, too', () => {
  const tool = { server: 's', name: 't' } as CatalogTool
  const link = { type: 'resource_link', uri: 'a://link', name: 'l' }
  const file = { type: 'resource', resource: { uri: 'a://file', text: 'x' } }
  const noteOf = (structuredContent: unknown, ...content: unknown[]) =>
    leftOutNote(tool, given({ content, structuredContent }))
  expect(noteOf({ rows: 3 }, hello, link, file)).toBe(
    's.t returned links or files beside its data, which only raw=True has (2).',
  )
  expect(noteOf({ result: [link, file] }, link, file)).toBeUndefined()
  expect(noteOf({ rows: 3 }, hello)).toBeUndefined()
  expect(leftOutNote(tool, given({ content: [link] }))).toBeUndefined()
})

it('a text that repeats structured content is left out', () => {
  const image = { type: 'image', data: '', mimeType: 'image/png' }
  expect(given({ content: [hello, image], structuredContent: { a: 1 } })).toEqual({
    content: [image],
    structuredContent: { a: 1 },
  })
})

describe('integers beyond 2^53, which JavaScript rounds', () => {
  const json = '{"id": 9007199254740993,\n "open": [1]}'
  const other = '{"id": 9007199254740995}'
  const parsed = JSON.parse(json) as object
  const texts = (...all: string[]) => all.map((text) => ({ type: 'text', text }))
  const image = { type: 'image', data: '', mimeType: 'image/png' }
  const tool = { server: 's', name: 't' } as CatalogTool

  it.each([
    ['as a whole', parsed, texts(json), '{"id": 9007199254740993,  "open": [1]}'],
    ['in a box', { result: parsed }, texts(json), '{"result":{"id": 9007199254740993,  "open": [1]}}'],
    ['as a number in a box', { n: 9_007_199_254_740_992 }, texts('9007199254740993'), '{"n":9007199254740993}'],
    [
      'in the items of a list, each with a text',
      { result: [JSON.parse(other), JSON.parse(other)] },
      texts(other, other),
      `{"result":[${other},${other}]}`,
    ],
    ['in the only item of a list', { result: [JSON.parse(other)] }, texts(other), `{"result":[${other}]}`],
    [
      'in the only item of a list in one text',
      { a: [2 ** 54] },
      texts('[18014398509481984]'),
      '{"a":[18014398509481984]}',
    ],
  ])('are exact where the texts repeat them %s', (_where, structuredContent, content, exact) => {
    const reply = given({ content: [...content, image], structuredContent })
    expect(reply).toEqual({ content: [image], structuredContent })
    const line = String(encodeFrame({ type: 'reply', id: 1, value: reply }))
    expect(line.slice(0, -1)).not.toContain('\n')
    expect(line).toContain(`"structuredContent":${exact.replace('\n', ' ')}}`)
    expect(JSON.parse(line)).toEqual({ type: 'reply', id: 1, value: reply })
    expect(roundedNote(tool, reply)).toBeUndefined()
  })

  it.each([
    ['another text', parsed, [hello]],
    ['another value', parsed, texts('{"id": 2, "open": [1]}')],
    ['no JSON', parsed, texts('{no JSON}')],
    ['too few texts', { result: [JSON.parse(other), JSON.parse(other)] }, texts(other)],
    ['more than one key', { a: parsed, b: 1 }, texts(json)],
    ['what costs too much to parse', { result: deep(2 ** 54) }, texts(JSON.stringify(deep(2 ** 54)))],
  ])('are told of as rounded beside %s', (_what, structuredContent, content) => {
    const reply = given({ content, structuredContent })
    expect(reply).toEqual({ content: [], structuredContent })
    expect(roundedNote(tool, reply)).toContain('in a result of s.t were rounded')
  })

  it('are told of in a result that is passed on unchanged, and in none without them', () => {
    const raw = { content: texts(json), structuredContent: parsed } as ToolResult
    expect(roundedNote(tool, resultForSandbox(tool, raw, true))).toContain('s.t')
    expect(roundedNote(tool, given({ content: texts('9007199254740993') }))).toBeUndefined()
    expect(roundedNote(tool, given({ content: texts('{"id": 2}'), structuredContent: { id: 2 } }))).toBeUndefined()
  })
})

function deep(value: unknown): unknown {
  let nested = value
  for (let depth = 0; depth < 2_000; depth += 1) nested = [nested]
  return nested
}
