import { expect, it } from 'vitest'
import { CatalogTool } from '@sandbridge/core/calls/catalog'
import { searchDocument } from './search-document.ts'

const read = (inputSchema: unknown) => searchDocument(new CatalogTool('s', 's', 't', { name: 't', inputSchema }))

it('names and descriptions of parameters are indexed at any depth, through items, combinators and references', () => {
  const { parameters, nestedParameters, parameterTexts } = read({
    properties: {
      rows: { type: 'array', items: { $ref: '#/$defs/row' } },
      target: { anyOf: [{ properties: { url: { description: 'Where to' } } }, { properties: { path: {} } }] },
      mode: { oneOf: [{ const: 'append' }, { enum: ['replace', 'upsert'] }] },
    },
    allOf: [{ properties: { dryRun: {} } }],
    $defs: { row: { properties: { cells: { items: { properties: { formula: { description: 'As in Excel' } } } } } } },
  })
  expect(parameters).toEqual(['rows', 'target', 'mode', 'dryRun'])
  expect(nestedParameters).toEqual(['cells', 'formula', 'url', 'path'])
  for (const text of ['Where to', 'append', 'replace upsert', 'As in Excel'])
    expect(parameterTexts.join(' ')).toContain(text)
})

it('recursive and endless schemas are indexed up to a bound', () => {
  const circle = read({ properties: { child: { $ref: '#' } } })
  expect(circle.parameters).toEqual(['child'])
  const many = Object.fromEntries(
    Array.from({ length: 2000 }, (_, at) => [`p${at}`, { description: 'x'.repeat(1000) }]),
  )
  const { parameters, parameterTexts } = read({ properties: many })
  expect(parameters.length).toBeLessThanOrEqual(300)
  expect(parameterTexts.join('').length).toBeLessThanOrEqual(4000)
  let deep: unknown = {}
  for (let at = 0; at < 5000; at += 1) deep = { properties: { a: deep }, anyOf: [deep, deep] }
  expect(read(deep).parameters).toEqual(['a'])
})

it('a search follows the references of all parameters in bounded steps', () => {
  let copied = 0
  const many = (count: number, name: string, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, value]))
  const chain = (at: number) => ({
    $ref: `#/$defs/C${at + 1}`,
    ...many(300, 'x', 1),
    get counted() {
      return (copied += 1)
    },
  })
  const properties = many(500, 'p', { $ref: '#/$defs/C0', title: 't' })
  const $defs = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`C${at}`, chain(at)]))
  expect(read({ type: 'object', properties, $defs }).parameters).toHaveLength(300)
  expect(copied).toBeGreaterThan(10)
  expect(copied).toBeLessThan(1_000)
})
