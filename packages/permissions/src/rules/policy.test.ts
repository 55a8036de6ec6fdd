// This file verifies how rules decide a call: which rule matches, which wins, and that another spelling does not evade
// a rule.
import { describe, expect, it } from 'vitest'
import { exactJson, parseExact } from '@sandbridge/core/util/json'
import type { Call, Origin, Preset, Rule, RuleEntry, RuleLists } from '@sandbridge/core/config/rules'
import { asSent, frozenCopy, RulePolicy, validate } from './policy.ts'
import { readRules, rulesOf } from './read-rules.ts'

const user: Origin = { scope: 'user', file: 'permissions.json', shown: 'permissions.json' }
const project: Origin = { scope: 'project', file: 'project.json', shown: 'project.json' }

async function rules(lists: RuleLists, origin: Origin = user): Promise<Rule[]> {
  const read = await readRules(JSON.stringify({ permissions: lists }), origin)
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  return read.rules
}

async function policy(lists: RuleLists, preset: Preset = 'open'): Promise<RulePolicy> {
  return new RulePolicy(await rules(lists), preset)
}

const call = (server: string, tool: string, more: Partial<Call> = {}): Call => ({
  server,
  tool,
  args: {},
  annotations: undefined,
  definition: 'd1',
  isProjects: false,
  ...more,
})

it.each([
  ['github', 'github', 'anything'],
  ['github__delete_repo', 'github', 'delete_repo'],
  ['mcp__github__delete_repo', 'github', 'delete_repo'],
  ['github__delete_*', 'github', 'delete_repo'],
  ['*__delete_repo', 'github', 'delete_repo'],
  ['*', 'github', 'delete_repo'],
  ['git*__*repo', 'github', 'delete_repo'],
  ['my__server__x', 'my__server', 'x'],
  ['my__server', 'my__server', 'x'],
  ['mcp__x', 'mcp', 'x'],
  // Each of these is a different name to a program and the same name to a person.
  ['github__delete_repo', 'GitHub', 'Delete_Repo'],
  ['github__delete_repo', 'github', 'delete-repo'],
  ['github__delete_repo', 'github', 'delete_repo.'],
  ['github__delete_repo', 'github.', 'delete_repo... '],
  ['github__delete_repo', 'github', 'ｄｅｌｅｔｅ_repo'],
  ['github__delete_repo', 'github', 'delete\u200b_repo'],
  ['github__löschen', 'github', 'lo\u0308schen'],
  ['github__stra\u00dfe', 'github', 'STRASSE'],
  ['*__delete_*', 'github', 'deleteRepo'],
  ['*__delete_*', 'github', '_delete_repo'],
  ['github__delete_repo', '.github', '--delete_repo'],
  ['github__deleteRepo', 'github', 'delete_repo'],
  ['github__DELETEREPO', 'github', 'deleteRepo'],
  ['github__delete_repo', 'github', 'delete\u200bRepo'],
  // As other hosts, Python and this bridge's own texts write it.
  ['github.delete_repo', 'github', 'delete_repo'],
  ['mcp_github.delete_repo', 'github', 'delete_repo'],
  ['mcp_github__delete_repo', 'github', 'delete_repo'],
  ['mcp_github', 'github', 'delete_repo'],
  ['MCP__GitHub__delete_repo', 'github', 'delete_repo'],
  ['github_delete_repo', 'github', 'delete_repo'],
  ['github-delete-repo', 'github', 'delete_repo'],
  ['my_hub_delete_*', 'my-hub', 'delete_repo'],
  ['mcp_my_hub.deleteRepo', 'my hub', 'delete_repo'],
  ['github/*', 'github', 'delete_repo'],
  ['nextcloud_*', 'nextcloud', 'nc_webdav_delete_resource'],
  ['github', 'github', 'github_search_code'],
  ['github:delete_repo', 'github', 'delete_repo'],
  ['*.delete_*', 'github', 'delete_repo'],
  [' github__ delete_repo', 'github', 'delete_repo'],
  ['mcp_x__y', 'mcp_x', 'y'],
  [{ server: 'mcp_github' }, 'github', 'delete_repo'],
  [{ server: 'GitHub ', tool: ' delete-repo' }, 'github', 'delete_repo'],
  [{ server: 'github', tool: 'github__delete_repo' }, 'github', 'delete_repo'],
  [{ server: 'github', tool: 'mcp_github.delete_repo' }, 'github', 'delete_repo'],
] as [string | RuleEntry, string, string][])('a rule that denies %j applies to %s.%s', async (rule, server, tool) => {
  expect(validate(await policy({ deny: [rule] }), call(server, tool)).verdict).toBe('deny')
})

it.each([
  ['github', 'github2', 'x'],
  ['github__delete_repo', 'github', 'delete_repository'],
  ['github__delete_*', 'github', 'get_delete_x'],
  ['github__delete_*', 'github', 'undeleteRepo'],
  ['github__delete_*', 'github', 'deleterepo'],
  ['github__x', 'gitlab', 'x'],
  ['slack__slack_*', 'slack', 'users_list'],
  ['slack-*', 'slack', 'users_list'],
  [{ server: 'slack', tool: 'slack_*' }, 'slack', 'users_list'],
  ['delete_repo', 'github', 'delete_repo'],
] as [string | RuleEntry, string, string][])(
  'a rule that denies %j does not apply to %s.%s',
  async (rule, server, tool) => {
    expect(validate(await policy({ deny: [rule] }), call(server, tool)).verdict).toBe('allow')
  },
)

it.each([
  ['github__get', 'github', 'get', 'allow'],
  ['github__get*', 'github', 'get_all', 'allow'],
  ['github__get', 'GitHub', 'get', 'ask'],
  ['github__get', 'github', 'GET', 'ask'],
  ['github__get', 'github', 'get.', 'ask'],
  ['a__b__c', 'a__b', 'c', 'ask'],
  ['a__b__c', 'a', 'b__c', 'allow'],
  ['a__b', 'a__b', 'c', 'ask'],
  ['github.get', 'github', 'get', 'ask'],
  ['github_get', 'github', 'get', 'ask'],
  ['mcp_github__get', 'github', 'get', 'ask'],
  ['github__get', 'github', 'github__get', 'ask'],
  ['git_get', 'git', 'get', 'ask'],
  // A server or a tool whose name only looks like the allowed one.
  ['foo.bar', 'foo_bar', 'evil', 'ask'],
  ['foo_bar', 'foo', 'bar', 'ask'],
  ['hub__foo/bar', 'hub', 'foo:bar', 'ask'],
  ['mcp__a__b', 'a', 'mcp__a__b', 'ask'],
  ['mcp__a__b', 'mcp__a', 'b', 'ask'],
  [{ server: 'a', tool: 'b' }, 'mcp_a', 'b', 'ask'],
  [' github__get', 'github', 'get', 'ask'],
  [{ server: 'github', tool: 'github__get' }, 'github', 'get', 'ask'],
  [{ server: 'github', tool: 'github__get' }, 'github', 'github__get', 'allow'],
] as [string | RuleEntry, string, string, string][])(
  'a rule that allows %j for %s.%s: %s',
  async (rule, server, tool, verdict) => {
    expect(validate(await policy({ allow: [rule] }, 'careful'), call(server, tool)).verdict).toBe(verdict)
  },
)

it('a rule that restricts a name of the file counts under the name that the bridge gave; one that allows does not', async () => {
  const all = await policy({ deny: ['github__drop'], ask: ['github'], allow: ['github__get'] }, 'careful')
  const of = (tool: string): string => validate(all, call('github@cursor', tool, { otherNames: ['github'] })).verdict
  expect([of('drop'), of('add'), of('get')]).toEqual(['deny', 'ask', 'ask'])
  expect(validate(all, call('github@cursor', 'drop')).verdict, 'control: without its other name').toBe('ask')
})

it('a limit counts whatever the spelling of its rule, also where that allows nothing', async () => {
  const limited = { tool: 'mcp_mail.send', perHour: 1 }
  const all = await policy({ allow: [limited] })
  expect(validate(all, call('mail', 'send'))).toMatchObject({ by: 'preset', limits: [{ limits: { perHour: 1 } }] })
  expect(validate(all, call('mail', 'read')).limits).toEqual([])
})

it('a deny rule beats an ask rule, which beats an allow rule, however specific they are', async () => {
  const all = await policy({ deny: ['*__x*'], ask: ['a__*', 'a__xy'], allow: ['a__xy', 'a__y'] })
  expect(validate(all, call('a', 'xy'))).toMatchObject({ verdict: 'deny', rule: { text: '"*__x*"' } })
  expect(validate(all, call('a', 'y'))).toMatchObject({ verdict: 'ask', rule: { text: '"a__*"' } })
  expect(validate(all, call('b', 'y')).verdict).toBe('allow')
})

it('the answer "always" beats an ask rule, and no deny rule', async () => {
  const answer = { server: 'a', tool: '*', definition: 'd1', insteadOfAsking: true as const }
  const all = await policy({ deny: ['a__no'], ask: ['a'], allow: [answer] })
  expect(validate(all, call('a', 'x')).verdict).toBe('allow')
  expect(validate(all, call('a', 'no')).verdict).toBe('deny')
  expect(validate(all, call('a', 'x', { definition: 'd2' })).verdict, "its namesake's").toBe('ask')
  expect(validate(all, call('renamed', 'x', { otherNames: ['a'] })).verdict, 'under another name').toBe('allow')
  const ofProject = { otherNames: ['a'], isProjects: true }
  expect(validate(all, call('renamed', 'x', ofProject)).verdict, "a project's server under another name").toBe('ask')
})

it("a project's rules can only make things stricter, and rules by name do not apply to a project's servers", async () => {
  const both = new RulePolicy(
    [...(await rules({ allow: ['a'] })), ...(await rules({ allow: ['b'], deny: ['a__x'] }, project))],
    'careful',
  )
  expect(validate(both, call('a', 'y')).verdict).toBe('allow')
  expect(validate(both, call('a', 'y', { isProjects: true })).verdict).toBe('ask')
  expect(validate(both, call('a', 'x')).verdict).toBe('deny')
  expect(validate(both, call('b', 'y')).verdict).toBe('ask')
})

it("the rules in a server's definition apply to that server only", async () => {
  const read = await rulesOf({ deny: ['x', 'github__y'] }, { ...user, server: 'github' })
  const own = new RulePolicy('rules' in read ? read.rules : [], 'open')
  expect(['x', 'y', 'z'].map((tool) => validate(own, call('github', tool)).verdict)).toEqual(['deny', 'deny', 'allow'])
  expect(validate(own, call('other', 'x')).verdict).toBe('allow')
})

const reads = { annotations: { readOnlyHint: true } }
it.each([
  ['open', 'allow', 'allow'],
  ['careful', 'allow', 'ask'],
  ['readonly', 'allow', 'deny'],
] as const)(
  'under the preset %s a read-only tool is decided as %s, another one as %s',
  async (preset, reading, other) => {
    const some = await policy({}, preset)
    expect(validate(some, call('a', 'get', reads)).verdict).toBe(reading)
    expect(validate(some, call('a', 'get')).verdict).toBe(other)
  },
)

it('the preset readonly cannot be loosened by a rule', async () => {
  expect(validate(await policy({ allow: ['*'] }, 'readonly'), call('a', 'x')).verdict).toBe('deny')
})

it.each([
  ['by its name', 'delete_all', { readOnlyHint: true }, false],
  ['by its name in another style', 'deleteAll', { readOnlyHint: true }, false],
  ['by its other mark', 'get', { readOnlyHint: true, destructiveHint: true }, false],
  ["as a project's", 'get', { readOnlyHint: true }, true],
  ['as no boolean', 'get', { readOnlyHint: 'true' }, false],
])('the annotation that a tool only reads is not believed, %s', async (_, tool, annotations, isProjects) => {
  expect(validate(await policy({}, 'careful'), call('a', tool, { annotations, isProjects })).verdict).toBe('ask')
})

it('a changed tool asks under every preset but open, whatever was allowed', async () => {
  const answer = { server: 'a', tool: 'x', insteadOfAsking: true as const }
  const changed = call('a', 'x', { isChanged: true, annotations: { readOnlyHint: true } })
  expect(validate(await policy({ allow: [answer, 'a'] }, 'careful'), changed)).toMatchObject({
    verdict: 'ask',
    by: 'change',
  })
  expect(validate(await policy({}), changed).verdict).toBe('allow')
})

describe('conditions', () => {
  const of = async (when: string, args: Record<string, unknown>) => {
    const denied =
      validate(await policy({ deny: [{ tool: 'a__x', when }] }), call('a', 'x', { args })).verdict === 'deny'
    const allowed =
      validate(await policy({ allow: [{ tool: 'a__x', when }] }, 'careful'), call('a', 'x', { args })).verdict ===
      'allow'
    return { denied, allowed }
  }

  it.each([
    ["args.owner != 'acme'", { owner: 'evil' }, true, true],
    ["args.owner != 'acme'", { owner: 'acme' }, false, false],
    ['args.n > 100', { n: 101.5 }, true, true],
    ["args.to.exists(x, !x.endsWith('@acme.com'))", { to: ['a@acme.com', 'b@evil.com'] }, true, true],
    ['has(args.force) && args.force', {}, false, false],
    ['annotations.readOnlyHint', {}, false, false],
    ["server == 'a' && tool == 'x'", {}, true, true],
  ])('the condition %s is evaluated for %j', async (when, args, denied, allowed) => {
    expect(await of(when, args)).toEqual({ denied, allowed })
  })

  it.each([
    ['an argument that is missing', "args.owner != 'acme'", {}],
    ['of another type', "args.owner.startsWith('a')", { owner: ['acme'] }],
    ['inherited, not given', "args.constructor != 'x'", {}],
    ['more than a loop goes through', 'args.l.all(x, x == 1)', { l: Array(5_000).fill(1) }],
    ['no truth value', 'args.owner', { owner: 'acme' }],
  ])('a condition that cannot be judged is decided strictly: %s', async (_, when, args) => {
    expect(await of(when, args)).toEqual({ denied: true, allowed: false })
  })

  it('a hostile argument does not make a condition slow', async () => {
    const lists = await policy({ deny: [{ when: 'args.a.exists(x, x in args.b)' }] })
    const args = { a: Array.from({ length: 1e6 }, (_, i) => i), b: Array.from({ length: 1e6 }, (_, i) => -i - 1) }
    expect(validate(lists, call('a', 'x', { args })).verdict).toBe('deny')
  })
})

it('a policy decides what is certain about a tool before its arguments are known', async () => {
  const some = await policy({
    deny: ['a__no', { tool: 'a__maybe', when: 'args.x == 1' }, { tool: 'a__ask_or_no', when: 'args.x == 1' }],
    ask: ['a__ask', 'a__ask_or_no', { tool: 'a__may_ask', when: 'args.x == 1' }],
  })
  const access = (tool: string) => some.accessOf(call('a', tool))
  expect(['no', 'maybe', 'ask', 'ask_or_no', 'may_ask', 'yes'].map(access)).toEqual([
    'denied',
    'depends',
    'asks',
    'depends',
    'depends',
    'allowed',
  ])
})

it('the arguments that are judged are those that the server parses', async () => {
  const given = { a: -0, b: [1.5, 'x', null, { c: '\ud800' }], ...(JSON.parse('{"__proto__": {"d": 1}}') as object) }
  const sent = asSent(given)
  expect(JSON.stringify(sent)).toBe(JSON.stringify(given))
  // Control: the given arguments are others, and a condition can tell.
  expect([Object.is(given.a, -0), Object.is(sent.a, 0)]).toEqual([true, true])
  const lists = await policy({ deny: [{ when: '1.0 / args.a > 0.0' }] })
  const verdictOn = (args: Record<string, unknown>) => validate(lists, call('a', 'x', { args })).verdict
  expect([verdictOn(given), verdictOn(sent)]).toEqual(['allow', 'deny'])
})

it('a condition judges an integer beyond 2^53 as the server gets it, and keys in their order', async () => {
  const given = parseExact('{"id":7960607143101464577,"rank":{"b":1,"2":1,"1":1}}') as Record<string, unknown>
  const { args } = frozenCopy(call('a', 'x', { args: given }))
  expect(exactJson(args)).toBe(exactJson(given))
  const verdictIf = async (when: string, judged = args) =>
    validate(await policy({ deny: [{ when }] }), call('a', 'x', { args: judged })).verdict
  expect(await verdictIf('args.id == 7960607143101464577')).toBe('deny')
  expect(await verdictIf('args.id == 7960607143101464576')).toBe('allow')
  expect(await verdictIf('args.id > 100')).toBe('deny')
  for (const id of [2n ** 64n, 10n ** 400n]) expect(await verdictIf('args.id > 100', { id })).toBe('deny')
})

it('a policy returns a copy of the arguments that nothing can change', () => {
  const args = { to: ['a'], __proto__: null }
  const sent = frozenCopy(call('a', 'x', { args }))
  args.to.push('b')
  expect(sent.args).toEqual({ to: ['a'] })
  expect(() => (sent.args['to'] as string[]).push('c')).toThrow(TypeError)
})
