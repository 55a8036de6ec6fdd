import { expect, it } from 'vitest'
import { CatalogTool } from '../../core/src/calls/catalog/model/catalog-tool.ts'
import { argumentShape, workedCall } from './argument-shape.ts'

const inputSchema = {
  type: 'object',
  properties: {
    owner: { type: 'string' },
    labels: { type: 'array', items: { type: 'string' } },
    'issue-number': { type: 'integer' },
    filter: { type: 'object', properties: { state: { type: 'string' } } },
    ['long'.repeat(2_500)]: { type: 'string' },
  },
}
const tool = new CatalogTool('hub', 'hub', 'create_issue', { name: 'create-issue', inputSchema })

function shown(args: Record<string, unknown>): string | undefined {
  const shape = argumentShape(tool, args)
  return shape && workedCall(tool, shape)
}

it('a call is shown with the Python names and the types of its arguments', () => {
  expect(shown({ owner: 'ada', labels: ['bug'], 'issue-number': 7, filter: { state: 'open' } })).toBe(
    'create_issue(owner=str, labels=list[str], issue_number=int, filter={state: str})',
  )
})

it('the shape of a call holds no value', () => {
  const shape = argumentShape(tool, { owner: 'ghp_secret', labels: ['private'], filter: { state: 'hidden' } })
  expect(JSON.stringify(shape)).not.toMatch(/ghp_secret|private|hidden/)
})

it('a call with a name that the schema lacks is not kept, and a nested one is not named', () => {
  expect(shown({ owner: 'ada', ghp_secret: 'x' })).toBeUndefined()
  expect(shown({ filter: { ghp_secret: 'x' } })).toBe('create_issue(filter=dict)')
  expect(shown(JSON.parse('{"__proto__": {"owner": 1}}') as Record<string, unknown>)).toBeUndefined()
})

it('calls that differ in the order of their arguments have the same shape', () => {
  const [one, other] = [argumentShape(tool, { owner: '', labels: [] }), argumentShape(tool, { labels: [], owner: '' })]
  expect(JSON.stringify(one)).toBe(JSON.stringify(other))
})

it('a line stays short and on one line, whatever the names of arguments are', () => {
  const names = Array.from({ length: 30 }, (_, at) => `argument\n# Note: \u202e${'x'.repeat(20)}${at}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const odd = new CatalogTool('hub', 'hub', 'odd', { name: 'odd', inputSchema: { type: 'object', properties } })
  const all = Object.fromEntries(names.map((name) => [name, 'x']))
  expect(argumentShape(odd, all)).toBeUndefined()
  // As if another program had written it.
  const types = Object.fromEntries(names.map((name) => [name, { type: ['string'] }]))
  const line = workedCall(odd, { type: ['object'], properties: types })
  expect(line.length).toBeLessThanOrEqual(240)
  expect(line).toMatch(/^[\w(), =…]*$/)
  expect(shown({ ['long'.repeat(2_500)]: 'x' })).toBeUndefined()
})
