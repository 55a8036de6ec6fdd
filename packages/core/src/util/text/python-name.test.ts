import fc from 'fast-check'
import { expect, it } from 'vitest'
import { foldName, isPythonKeyword, pythonName, pythonNames, serverAlias, serverAliases } from './python-name.ts'
import { anyCharacter } from '../../../test/support/suite/any-character.ts'

it.each([
  ['create_issue', 'create_issue'],
  ['create-issue', 'create_issue'],
  ['API-get-user', 'API_get_user'],
  ['files.read:v2', 'files_read_v2'],
  ['3d-render', '_3d_render'],
  ['from', 'from_'],
  ['None', 'None_'],
  ['__debug__', 'debug'],
  ['__class__', 'class_'],
  ['créer ticket', 'créer_ticket'],
  ['ﬁle', 'file'],
  ['検索', '検索'],
  ['🔥', 'tool'],
  ['', 'tool'],
  ['ア・イ', 'ア_イ'],
  ['ｱ･ｲ', 'ア_イ'],
])('the name %j becomes %j', (name, expected) => {
  expect(pythonName(name, 'tool')).toBe(expected)
})

it('a server alias is in lower case', () => {
  expect(serverAlias('GitHub Enterprise', 'server')).toBe('github_enterprise')
})

it('names that collide stay apart, and an identifier keeps its own name', () => {
  const names = pythonNames(['a-b', 'a.b', 'a_b', 'a b'], 'tool')
  expect(Object.fromEntries(names)).toEqual({ a_b: 'a_b', 'a b': 'a_b_2', 'a-b': 'a_b_3', 'a.b': 'a_b_4' })
})

it('a numbered name that is taken is skipped', () => {
  const names = pythonNames(['x-y', 'x_y', 'x_y_2'], 'tool')
  expect(names.get('x-y')).toBe('x_y_3')
})

it('thousands of colliding names are resolved in little time', () => {
  const names = Array.from(
    { length: 20_000 },
    (_, index) => '-'.repeat(1 + (index % 2)) + '🔥'.repeat(index % 50) + `-${index % 7}`,
  )
  expect(new Set(pythonNames(names, 'tool').values()).size).toBe(new Set(names).size)
})

it('whatever the names are, they become valid, different identifiers, no keyword, and the order of the list does not matter', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: anyCharacter }), { maxLength: 30 }), fc.nat(), (names, turn) => {
      const found = pythonNames(names, 'tool')
      const turned = [...names.slice(turn % (names.length || 1)), ...names.slice(0, turn % (names.length || 1))]
      expect(pythonNames(turned.toReversed(), 'tool')).toEqual(found)
      expect(new Set(found.values()).size).toBe(names.length)
      for (const identifier of found.values()) {
        expect(identifier).toMatch(/^[\p{XID_Start}_][\p{XID_Continue}]*$/u)
        expect(isPythonKeyword(identifier)).toBe(false)
        expect(identifier.normalize('NFKC')).toBe(identifier)
      }
    }),
  )
})

it('folding brings the spellings of a name together', () => {
  expect(new Set(['createIssue', 'create_issue', 'create-issue', 'Create Issue'].map(foldName)).size).toBe(1)
})

it('the aliases of an earlier group do not depend on later groups', () => {
  const own = ['a-b', 'a.b', '🔥', 'class']
  const projects = ['a_b_2', 'server', 'class_', 'a_b', 'servers']
  const alone = serverAliases([own])
  expect(Object.fromEntries(alone)).toEqual({ 'a-b': 'a_b', 'a.b': 'a_b_2', '🔥': 'server', class: 'class_' })
  const both = serverAliases([own, projects])
  for (const name of own) expect(both.get(name)).toBe(alone.get(name))
  expect(new Set(both.values()).size).toBe(own.length + projects.length)
  // `mcp_servers` is not a server.
  expect(both.get('servers')).toBe('servers_2')
})
