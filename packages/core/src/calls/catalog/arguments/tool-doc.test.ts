import { describe, expect, it } from 'vitest'
import { catalogTools } from '../model/catalog-tool.ts'
import { shapeOfResult } from '../model/learned-types.ts'
import { toolDoc } from './tool-doc.ts'
import { toolLine } from './tool-line.ts'

const tool = (definition: Record<string, unknown>) =>
  catalogTools('x', 'x', [
    { name: 'do', inputSchema: { type: 'object', additionalProperties: false }, ...definition },
  ])[0]!
const text = { type: 'string' }
const boxed = { type: 'object', properties: { result: text }, required: ['result'] }

describe('the type of a result', () => {
  it('the result type of a tool without an output schema is str', () => {
    expect(toolLine(tool({ description: 'Does it' }))).toBe('await mcp_x.do() -> str  # Does it')
  })

  it.each(['Returns the settings as JSON', 'Take a screenshot', 'Reads an image'])(
    'the result type is left out when "%s" promises something else',
    (description) => {
      expect(toolLine(tool({ description }))).not.toContain('->')
    },
  )

  it('the result type is the observed one, unless the server declares a text or the tool reads files', () => {
    const observed = shapeOfResult({ structuredContent: { result: '[{"id": 1}]' } })
    expect(toolLine(tool({}), 'summary', observed)).toBe('await mcp_x.do() -> list[{id: int}]  # observed')
    expect(toolLine(tool({ outputSchema: boxed }), 'summary', observed)).toBe('await mcp_x.do() -> str')
    const inputSchema = { type: 'object', properties: { path: { type: 'string' } } }
    expect(toolLine(tool({ name: 'read', inputSchema }), 'summary', observed)).toBe(
      'await mcp_x.read(*, path: str = None)',
    )
    expect(toolLine(tool({ name: 'get_file_contents' }), 'summary', observed)).toBe('await mcp_x.get_file_contents()')
  })

  it('the result type is the declared one where the server declares more than a text', () => {
    const outputSchema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
    expect(toolLine(tool({ outputSchema }), 'summary', { type: ['string'] })).toBe('await mcp_x.do() -> {id: int}')
  })
})

it("full docs have the whole description, every parameter's description, and an example", () => {
  const description = 'Does it. Then more.\n\nArgs:\n  path: where\n' + 'x'.repeat(3000)
  const inputSchema = {
    type: 'object',
    properties: { path: { ...text, description: 'Where to do it.\nAny folder.' }, deep: { type: 'boolean' } },
    required: ['path'],
  }
  const doc = toolDoc(tool({ description, inputSchema }), 'full')
  expect(doc.description).toBe(description)
  expect(doc.line).toBe('await mcp_x.do(*, path: str, deep: bool = None) -> str')
  expect(doc.params?.map((param) => param.description)).toEqual(['Where to do it. Any folder.', undefined])
  expect(doc.example).toBe("await mcp_x.do(path='path')")
})

const lineOf = (description: string): string =>
  toolLine(catalogTools('files', 'files', [{ name: 'read_file', description, inputSchema: { type: 'object' } }])[0]!)

it('docs say once that a tool is deprecated, wherever the server says so', () => {
  expect(lineOf('Read a whole file. DEPRECATED: Use read_text_file instead.')).toContain(
    '# DEPRECATED: Use read_text_file instead; Read a whole file',
  )
  expect(lineOf('Deprecated. Read a file.').match(/deprecated/gi)).toHaveLength(1)
})
