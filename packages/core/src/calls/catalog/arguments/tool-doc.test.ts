import { expect, it } from 'vitest'
import { catalogTools } from '../model/catalog-tool.ts'
import { toolDoc } from './tool-doc.ts'
import { toolLine } from './tool-line.ts'

const tool = (definition: Record<string, unknown>) =>
  catalogTools('x', 'x', [
    { name: 'do', inputSchema: { type: 'object', additionalProperties: false }, ...definition },
  ])[0]!
const text = { type: 'string' }
const boxed = { type: 'object', properties: { result: text }, required: ['result'] }

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
  const row = { type: ['object'], properties: { id: { type: ['integer'] } }, required: ['id'] }
  const observed = { type: ['array'], items: row }
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

it('full docs have limits, meanings, inner fields and long defaults, and an example that the schema allows', () => {
  const inputSchema = {
    type: 'object',
    required: ['code', 'list', 'count'],
    properties: {
      code: { type: 'string', pattern: '^[A-Z]+$' },
      list: { type: 'array', minItems: 2, maxItems: 9, items: { ...text, format: 'date', description: 'When.' } },
      count: { type: 'integer', multipleOf: 7 },
      level: {
        oneOf: [
          { const: 1, title: 'Low' },
          { const: 2, description: 'Wakes people' },
        ],
      },
      deep: {
        type: 'array',
        items: { type: 'object', properties: { sku: { type: 'string', description: 'On the shelf.' } } },
      },
      old: { ...text, title: 'Where it was', example: 'x', deprecated: true },
      old_name: { ...text, title: 'Old Name' },
      above: { type: 'number', minimum: 5, exclusiveMinimum: true },
      by_key: {
        propertyNames: { pattern: '^k' },
        patternProperties: { '^k': { ...text, description: 'By key.' } },
      },
      pair: { type: 'array', prefixItems: [{ type: 'number', description: 'Longitude.' }, { type: 'number' }] },
      color: { enum: ['r'], 'x-enumNames': ['Red'] },
      late: { type: ['string', 'null'], default: 'the beginning of the month' },
    },
  }
  const doc = toolDoc(tool({ inputSchema }), 'full')
  const details = Object.fromEntries(doc.params!.map((param) => [param.name, param.details?.join('\n')]))
  expect(details).toEqual({
    code: 'pattern ^[A-Z]+$',
    list: 'at least 2 items; at most 9 items; each: When.; format date',
    count: 'a multiple of 7',
    level: '1: Low; 2: Wakes people',
    deep: '[].sku: str, optional  # On the shelf.',
    old: "Where it was; deprecated; such as 'x'",
    old_name: undefined,
    above: 'more than 5',
    by_key: 'keys: pattern ^k; values of ^k: By key.',
    pair: 'item 0: Longitude.',
    color: "'r': Red",
    late: undefined,
  })
  expect(doc.params!.at(-1)!.default).toBe("'the beginning of the month'")
  expect(doc.line).toContain('late: str | None = ...')
  expect(doc.example).toBe("await mcp_x.do(code=..., list=['2026-01-31', '2026-01-31'], count=...)")
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
