import { expect, it } from 'vitest'
import { allowsTool, unmatchedNames } from './tool-filter.ts'

it.each([
  [undefined, 'any', true],
  [{ include: ['a', 'b'] }, 'a', true],
  [{ include: ['a', 'b'] }, 'ab', false],
  [{ include: [] }, 'a', false],
  [{ exclude: ['a'] }, 'a', false],
  [{ exclude: ['a'] }, 'b', true],
  [{ include: ['a'], exclude: ['a'] }, 'a', false],
  [{ include: ['read_*'] }, 'read_file', true],
  [{ include: ['read_*'] }, 'unread_file', false],
  [{ include: ['*_file'] }, 'read_file', true],
  [{ include: ['r*_*e'] }, 'read_file', true],
  [{ include: ['a*a'] }, 'a', false],
  [{ include: ['a*b*b'] }, 'ab', false],
  [{ exclude: ['*'] }, 'anything', false],
  // What leaves out is read as a rule that denies; what lets in is exact.
  [{ exclude: ['mcp_hub.delete_repo'] }, 'delete_repo', false],
  [{ exclude: ['hub/Delete-Repo'] }, 'delete_repo', false],
  [{ exclude: ['delete_*'] }, 'deleteRepo', false],
  [{ exclude: ['hub_status'] }, 'status', true],
  [{ exclude: ['mcp__*__status'] }, 'status', false],
  [{ include: ['hub.get'] }, 'get', false],
  [{ include: ['Get'] }, 'get', false],
  // A dot is literal.
  [{ include: ['a.b'] }, 'axb', false],
])('the tool filter %j for %s allows the tool: %s', (tools, tool, expected) => {
  expect(allowsTool({ name: 'hub', ...(tools && { tools }) }, tool)).toBe(expected)
})

it('names in an entry that no tool has are found', () => {
  const tools = { include: ['get', 'gte'], exclude: ['delete_repos', 'hub.drop', 'delete_*', 'mcp__*__Bash'] }
  expect(unmatchedNames({ name: 'hub', tools }, ['get', 'drop', 'deleteRepo'])).toEqual(['delete_repos', 'gte'])
})
