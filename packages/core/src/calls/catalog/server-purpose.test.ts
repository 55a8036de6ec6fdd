import { expect, it } from 'vitest'
import { purposeText, serverPurpose } from './server-purpose.ts'

const named = (...names: string[]) => names.map((name) => ({ name, description: '' }))
const PULLS = named('create_pull_request', 'list_pull_requests', 'get_pull_request', 'create_issue', 'list_issues')
const MANY = [
  ...PULLS,
  ...named('add_comment', 'list_branches', 'search_code', 'fork_repository', 'merge_pull_request'),
]

const purpose = (...args: Parameters<typeof serverPurpose>): string => purposeText(serverPurpose(...args))

it('the purpose of a server is the beginning of its instructions', () => {
  const said = 'Use this server to fetch current documentation of libraries. Never use it for code review.'
  expect(purpose('docs', said, PULLS, 100)).toBe('Use this server to fetch current documentation of libraries')
})

it.each([
  ['a title', '# Everything Server – Server Instructions\n\n## Constraints\n- Use `x` first'],
  [
    'words about the instructions',
    'Audience: These instructions are written for an LLM.\nFollow them to use the server.',
  ],
  ['its own name', 'Everything MCP Server'],
  ['an order', 'Always call list_issues before create_issue.'],
  ['nothing', undefined],
])('the purpose of a server is made from its tools when the instructions begin with %s', (_, instructions) => {
  expect(purpose('everything', instructions, MANY, 100)).toBe(
    '10 tools: pull request, issue, comment, branch, code, repository',
  )
})

it('the purpose of a server may come from a later paragraph of its instructions', () => {
  const said = '# Weather Server\n\nForecasts and warnings for any place on earth.\n'
  expect(purpose('weather', said, MANY, 100)).toBe('Forecasts and warnings for any place on earth')
})

it('the purpose of a server lists all names of its tools or none', () => {
  expect(purpose('x', undefined, named('resolve', 'query'), 100)).toBe('2 tools: resolve, query')
  const text = purpose('x', undefined, MANY, 100)
  for (const { name } of MANY) expect(text).not.toContain(name)
})

it('the purpose of a server has the number of its tools apart from their names', () => {
  expect(serverPurpose('x', undefined, named('resolve', 'query'), 100)).toEqual({
    tools: '2 tools',
    about: 'resolve, query',
  })
  // A server's own words are never taken for that number.
  const said = '3 tools: hammer, saw and plane'
  expect(serverPurpose('x', said, MANY, 100)).toEqual({ about: said })
})

it('the purpose of a server with one tool is the description of that tool', () => {
  const tools = [{ name: 'think', description: 'Solve a problem step by step. More.' }]
  expect(purpose('x', undefined, tools, 100)).toBe('Solve a problem step by step')
})

it('the purpose of an unknown server is empty, and no purpose is long', () => {
  expect(purpose('x', undefined, [], 100)).toBe('')
  expect(purpose('x', 'word '.repeat(10_000), MANY, 100).length).toBeLessThanOrEqual(100)
  expect(
    purpose('x', undefined, named(...Array.from({ length: 5000 }, (_, i) => `t${i}_y${i}`)), 100).length,
  ).toBeLessThanOrEqual(100)
})
