import { expect, it } from 'vitest'
import { discoverResult, initializeResult } from './handshake-results.ts'

const whole = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 's', version: '1' },
}
const read = (change: object): Record<string, unknown> => {
  const dropped: string[] = []
  return { ...initializeResult({ ...whole, ...change }, (what) => dropped.push(what)), dropped }
}

it('the result of initialize stays as it is where it needs no change', () => {
  const more = { instructions: 'Use it.', _meta: { a: 1 } }
  const tasks = { requests: { tools: { call: {} } }, list: {} }
  const capabilities = {
    ...whole.capabilities,
    logging: {},
    tasks,
    extensions: { 'x/y': { depth: 3 } },
    own: { a: [1] },
  }
  expect(read({ ...more, capabilities })).toEqual({ ...whole, ...more, capabilities, dropped: [] })
})

it.each([
  [null, {}],
  [undefined, {}],
  [[], {}],
  [['tools', 'prompts'], { tools: {}, prompts: {} }],
  [
    { logging: null, prompts: false, tools: true, resources: [] },
    { tools: {}, resources: {} },
  ],
  [
    { tools: [{ name: 'x' }], completions: '' },
    { tools: {}, completions: {} },
  ],
  [
    { tools: { listChanged: null }, resources: { subscribe: 'yes', listChanged: true } },
    { tools: {}, resources: { listChanged: true } },
  ],
  [{ experimental: { stateless: true, off: false, none: null } }, { experimental: { stateless: {} } }],
  [{ experimental: true, extensions: null }, { experimental: {} }],
  [{ tasks: { list: null, requests: { tools: { call: true } } } }, { tasks: { requests: { tools: { call: {} } } } }],
])('the capabilities %j are read as what they mean', (capabilities, expected) => {
  expect(read({ capabilities })).toMatchObject({ capabilities: expected, dropped: [] })
})

it.each([
  [undefined, { name: '', version: '' }],
  [null, { name: '', version: '' }],
  ['files', { name: 'files', version: '' }],
  [{ name: 'files' }, { name: 'files', version: '' }],
  [
    { name: 'files', version: 2 },
    { name: 'files', version: '2' },
  ],
  [
    { name: 'files', version: '2', title: null, icons: 'x.png', websiteUrl: 'none' },
    { name: 'files', version: '2' },
  ],
])('the server info %j is read', (serverInfo, expected) => {
  expect(read({ serverInfo }).serverInfo).toEqual(expected)
})

it('instructions that are lines are joined, null is none, and anything else is left out and said', () => {
  expect(read({ instructions: ['a', 'b'] })).toMatchObject({ instructions: 'a\nb', dropped: [] })
  expect(read({ instructions: null })).not.toHaveProperty('instructions')
  expect(read({ instructions: {} }).dropped).toEqual(['`instructions`, which is an object, of initialize'])
})

it('a missing protocol version is the one that the specification assumes', () => {
  expect(read({ protocolVersion: null })).toMatchObject({
    protocolVersion: '2025-03-26',
    dropped: ['the missing `protocolVersion` of initialize'],
  })
})

it.each([
  ['v2025-06-18', '2025-06-18'],
  ['2025-06-18T00:00:00.000Z', '2025-06-18'],
  ['1.0', '2025-03-26'],
  ['2027-01-01', '2027-01-01'],
  ['draft', 'draft'],
])('the protocol version %s is read as %s', (protocolVersion, expected) => {
  expect(read({ protocolVersion })).toMatchObject({ protocolVersion: expected })
})

it('the versions of a server that answers initialize like server/discover count', () => {
  const change = { protocolVersion: undefined, supportedVersions: ['2025-11-25', '2026-07-28'] }
  expect(read(change)).toMatchObject({ protocolVersion: '2026-07-28', dropped: [] })
})

it('the result of server/discover is read alike, and without versions it stays as it is', () => {
  const given = { supportedVersions: '2026-07-28', capabilities: { tools: true, logging: null }, instructions: null }
  expect(discoverResult(given, () => {})).toEqual({
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    resultType: 'complete',
  })
  const snake = { supported_versions: ['2026-07-28'], capabilities: {} }
  expect(discoverResult(snake, () => {})).toMatchObject({ supportedVersions: ['2026-07-28'] })
  const other = { ok: true }
  expect(discoverResult(other, () => {})).toBe(other)
})
