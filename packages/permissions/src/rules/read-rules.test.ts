// This file verifies that a file of rules is read completely or not at all, and that problems are reported with line
// and column.
import { expect, it } from 'vitest'
import { readRules } from './read-rules.ts'

const origin = { scope: 'user', file: 'permissions.json', shown: 'permissions.json' } as const

async function problem(text: string): Promise<string> {
  const read = await readRules(text, origin)
  if ('rules' in read) throw new Error('it was accepted')
  return read.problems.map(({ reason, place }) => `${place?.line}:${place?.column} ${reason}`).join('\n')
}

const deny = (rule: unknown) => JSON.stringify({ permissions: { deny: [rule] } })

it('a project has only so many conditions as can be judged at every call', async () => {
  const text = deny({ tool: 'a', when: 'args.x == 1' }).replace(/{"tool".*?}/, (rule) =>
    Array(201).fill(rule).join(','),
  )
  const read = async (scope: 'user' | 'project') => readRules(text, { ...origin, scope })
  expect(await read('project')).toEqual({ problems: [{ reason: 'has more than 200 conditions' }] })
  expect(await read('user')).toMatchObject({ rules: { length: 201 } })
})

it.each([
  ['no JSON', '{"permissions": ', /^1:\d+ is not valid JSON/],
  ['empty', ' \n', /^1:1 is empty/],
  ['a list', '[]', /^1:1 /],
  ['an unknown key', '{\n  "permission": {}\n}', /^2:3 "permission" is not known here$/],
  ['an unknown key inside', '{"permissions": {\n "block": []}}', /^2:2 "block" is not known here$/],
  ['an unknown key of a rule', '{"permissions": {"deny": [\n  {"tools": "x"}]}}', /^2:4 "tools" is not known here$/],
  ['a key twice', '{"permissions": {"deny": ["a"],\n"deny": []}}', /^2:1 has the key "deny" twice/],
  ['a rule that is no text', deny(5), /a rule is a text or an object/],
  ['a list that is none', '{"permissions": {"deny": "github"}}', /^1:18 expected array/],
  ["parentheses, as in another host's rules", deny('mcp__github__x(a)'), /holds \(, which means nothing here/],
  ['an alternative', deny('github__{a,b}'), /holds \{/],
  ['a rule without a name', deny('mcp____x'), /names no server or no tool/],
  ['a limit in deny', deny({ tool: 'a', perHour: 3 }), /perHour has no meaning in deny/],
  ['a limit of 0', '{"permissions": {"allow": [{"tool": "a", "perCell": 0}]}}', /^1:42 /],
  ['bad CEL', '{"permissions": {"deny": [\n{"tool": "a", "when": "args.x =="}]}}', /^2:\d+ "when" is not valid CEL/],
  ['an unknown name in CEL', deny({ tool: 'a', when: 'argz.x == 1' }), /Unknown variable: argz/],
  ['CEL that is no truth value', deny({ tool: 'a', when: 'size("a")' }), /it must be true or false/],
  ['a regular expression', deny({ tool: 'a', when: 'args.x.matches("(a+)+$")' }), /uses matches/],
  ['a loop in a loop', deny({ when: 'args.a.all(x, args.b.all(y, x == y))' }), /inside of another loop/],
  ['names that double', deny({ when: 'cel.bind(x, args.s + args.s, x == "")' }), /uses bind/],
  ['100 kB of CEL', deny({ when: `args.x == "${'x'.repeat(100_000)}"` }), /4000/],
  ['deep CEL', deny({ when: `${'('.repeat(1000)}true${')'.repeat(1000)}` }), /is not valid CEL/],
  ['deep JSON', '['.repeat(1_000_000), /nested too deeply|is not valid JSON/],
])('a rules file with a mistake is refused: %s', async (_, text, expected) => {
  expect(await problem(text)).toMatch(expected)
})

it('a rules file with a mistake in a condition is refused with the position of the mistake', async () => {
  expect(await problem('{"permissions": {"deny": [{"when": "true && \\"\\u0041\\" == foo"}]}}')).toMatch(/^1:59 /)
})

it('a rules file is refused with all of its problems', async () => {
  expect((await problem('{"permissions": {"deny": ["a(b)",\n"c[d]"]}}')).split('\n')).toHaveLength(2)
})

it('a rules file may hold comments, a schema and both forms of rules', async () => {
  const text = `{
  // mine
  "$schema": "x",
  "permissions": {
    "deny": ["mcp__github__delete_*"],
    "allow": [{"tool": "github__*", "when": "args.owner == 'acme'", "perHour": 3}],
  }
}`
  const read = await readRules(text, origin)
  expect('rules' in read && read.rules.map(({ verdict, line, limits }) => [verdict, line, limits])).toEqual([
    ['deny', 5, undefined],
    ['allow', 6, { perHour: 3 }],
  ])
})

it("a project's file cannot hold patterns of masks, and the user's own file can", async () => {
  const text = '{"mask": [{"name": "ticket", "pattern": "T-[0-9]"}]}'
  expect(await readRules(text, origin)).toMatchObject({ rules: [], mask: [{ name: 'ticket', pattern: 'T-[0-9]' }] })
  const project = { scope: 'project', file: 'p.json', shown: 'p.json' } as const
  expect(await readRules(text, project)).toMatchObject({ problems: [{ reason: expect.stringContaining('your own') }] })
})
