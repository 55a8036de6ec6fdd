import { expect, it } from 'vitest'
import { placeDefinitions, withoutDoubles } from './merge-definitions.ts'
import type { ServerDefinition } from './entries/server-definition.ts'

function definition(name: string, command: string, client: string, file = '/f'): ServerDefinition {
  return { name, transport: { type: 'stdio', command, args: [], env: {} }, source: { client, file } }
}

const names = (definitions: ServerDefinition[]): string[] =>
  withoutDoubles(placeDefinitions(definitions)).map(
    ({ name, transport }) => `${name}=${'command' in transport ? transport.command : ''}`,
  )

it('a server that is found twice becomes one', () => {
  expect(names([definition('a', 'x', 'mcps'), definition('a', 'x', 'cursor')])).toEqual(['a=x'])
})

it('two different servers with one name are both kept', () => {
  expect(names([definition('a', 'x', 'mcps'), definition('a', 'y', 'cursor')])).toEqual(['a=x', 'a@cursor=y'])
})

it('any number of servers with one name get names of their own', () => {
  const four = ['w', 'x', 'y', 'z'].map((command) => definition('a', command, 'mcps'))
  expect(names(four)).toEqual(['a=w', 'a@mcps=x', 'a@mcps-2=y', 'a@mcps-3=z'])
})

it('a server that equals the second one of a name becomes one with it', () => {
  const three = [definition('a', 'x', 'mcps'), definition('a', 'y', 'cursor'), definition('a', 'y', 'zed')]
  expect(names(three)).toEqual(['a=x', 'a@cursor=y'])
})

it('a server never gets a name that is already taken', () => {
  const three = [definition('a@cursor', 'v', 'mcps'), definition('a', 'x', 'mcps'), definition('a', 'y', 'cursor')]
  expect(names(three)).toEqual(['a@cursor=v', 'a=x', 'a@cursor-2=y'])
  const reverse = [definition('a', 'x', 'mcps'), definition('a', 'y', 'cursor'), definition('a@cursor', 'v', 'zed')]
  expect(names(reverse)).toEqual(['a=x', 'a@cursor=y', 'a@cursor@zed=v'])
})

it('the same server with other tools is kept apart', () => {
  const filtered = { ...definition('a', 'x', 'cursor'), tools: { include: ['t'] } }
  expect(names([definition('a', 'x', 'mcps'), filtered])).toEqual(['a=x', 'a@cursor=x'])
})

it.each([
  ['GitHub', 'github'],
  ['my_notes', 'my-notes'],
  ['git.hub', 'git_hub'],
  ['git_hub', 'github'],
  ['a', 'Ａ'],
  ['class', 'class_'],
  ['class_', 'class'],
  ['straße', 'STRASSE'],
  ['notes', 'no\u200btes'],
  ['🔥', 'server'],
])("the name %j stays with the user's server when a project brings %j", (own, theirs) => {
  const mine = definition(own, 'mine', 'mcps')
  const projects = { ...definition(theirs, 'theirs', 'cursor'), isProjects: true as const }
  expect(names([mine, projects])).toEqual([`${own}=mine`, `${theirs}@cursor=theirs`])
  // Control: both are kept when the user has written both.
  expect(names([mine, definition(theirs, 'also mine', 'cursor')])).toEqual([`${own}=mine`, `${theirs}=also mine`])
})

it("the name of a trusted project's server stays with it when an untrusted project brings a similar one", () => {
  const trusted = { ...definition('Docs', 'x', 'cursor'), isProjects: true as const }
  const other = { ...definition('docs', 'y', 'zed'), isProjects: true as const, trusted: false }
  expect(names([trusted, other])).toEqual(['Docs=x', 'docs@zed=y'])
})
