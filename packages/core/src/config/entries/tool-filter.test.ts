import { describe, expect, it } from 'vitest'
import { allowsTool } from './tool-filter.ts'

describe('allowsTool', () => {
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
    // A dot is literal.
    [{ include: ['a.b'] }, 'axb', false],
  ])('the tool filter %j for %s allows the tool: %s', (tools, tool, expected) => {
    expect(allowsTool(tools === undefined ? {} : { tools }, tool)).toBe(expected)
  })
})
