import { expect, it } from 'vitest'
import { meantRestriction, withOwnNames } from './client-fields.ts'
import { toServerBody } from './server-entry.ts'

const bodyOf = (fields: object) => toServerBody(withOwnNames({ command: 'x', ...fields }))
const off = { reason: 'is disabled in this file' }

it.each([
  ['enabled_tools', 'include'],
  ['available_tools', 'include'],
  ['allowedTools', 'include'],
  ['tools', 'include'],
  ['disabledTools', 'exclude'],
  ['disabled_tools', 'exclude'],
  ['exclude_tools', 'exclude'],
  ['disabled-tools', 'exclude'],
  ['AllowedTools', 'include'],
  ['tools.exclude', 'exclude'],
])('a list %s of any client restricts the server', (name, kind) => {
  expect(bodyOf({ [name]: ['a'] })).toMatchObject({ body: { tools: { [kind]: ['a'] } } })
  expect(bodyOf({ [name]: 'a' })).toHaveProperty('reason')
  if (name !== 'tools') expect(bodyOf({ [name]: { tool_names: ['a'] } })).toHaveProperty('reason')
})

it('several restrictions all count', () => {
  expect(bodyOf({ includeTools: ['a', 'b'], enabled_tools: ['b', 'c'] })).toMatchObject({
    body: { tools: { include: ['b'] } },
  })
  expect(bodyOf({ includeTools: ['a'], tools: ['*'] })).toMatchObject({ body: { tools: { include: ['a'] } } })
  expect(bodyOf({ excludeTools: ['a'], disabledTools: ['b'] })).toMatchObject({
    body: { tools: { exclude: ['a', 'b'] } },
  })
})

it.each<[object, 'include' | 'exclude']>([
  [{ tools: { b: false, c: true } }, 'exclude'],
  [{ tools: { b: { enabled: false } } }, 'exclude'],
  [{ tools: { b: { disable: 'true', allowed: true } } }, 'exclude'],
  [{ tools: { b: { allowed: 0 } } }, 'exclude'],
  [{ tools: { b: 'off', c: 'ask' } }, 'exclude'],
  [{ tools: { exclude: ['b'] } }, 'exclude'],
  [{ toolPermissions: { b: 'deny', c: { mode: 'allow' } } }, 'exclude'],
  [{ tools_blocked: ['b'] }, 'exclude'],
  [{ tools: { allow: ['b'] } }, 'include'],
  [{ tools: { '*': false, b: true } }, 'include'],
  [{ default_config: { enabled: false }, configs: { b: { enabled: true }, c: { enabled: false } } }, 'include'],
  [{ default_tools_enabled: false, tools: { b: true } }, 'include'],
  [{ tool_names: ['b'] }, 'include'],
])('%j restricts the server to what it says of one tool', (fields, kind) => {
  expect(bodyOf(fields)).toMatchObject({ body: { tools: { [kind]: ['b'] } } })
})

it("a listed tool may have the server's name in front of it, as in rules of clients", () => {
  expect(bodyOf({ disabledTools: ['mcp__s__a'] })).toMatchObject({ body: { tools: { exclude: ['mcp__s__a', 'a'] } } })
})

it.each([
  { isActive: false },
  { active: false },
  { enabled: false },
  { is_enabled: false },
  { disabled: true },
  { disable: true },
  { off: true },
  { on: false },
  { paused: true },
  { suspended: true },
])('a server is off with %j, whatever else says that it is on', (fields) => {
  expect(bodyOf({ ...fields, trust: true })).toEqual(off)
  expect(bodyOf({ enabled: true, disabled: false, ...fields })).toEqual(off)
  const [name = ''] = Object.keys(fields)
  expect(bodyOf({ [name]: 'yes' })).toEqual({ reason: `has a field ${name} that is neither true nor false` })
})

it('a server is off whose state says so in a word, and not in any other state', () => {
  for (const fields of [{ status: 'disabled' }, { status: 'Off' }, { state: 'inactive' }])
    expect(bodyOf(fields)).toEqual(off)
  for (const fields of [{ status: 'connected' }, { state: 'stopped' }]) expect(bodyOf(fields)).toHaveProperty('body')
})

it('fields of other clients have the meaning that they have there', () => {
  expect(
    bodyOf({ cmd: 'y', envs: { A: '1' }, environment: { B: '2' }, env: { B: '3' }, working_directory: '/w' }),
  ).toMatchObject({
    body: { transport: { command: 'y', env: { A: '1', B: '3' }, cwd: '/w' } },
  })
  const remote = {
    command: undefined,
    serverUrl: 'https://h/mcp',
    http_headers: { X: '1' },
    bearer_token_env_var: 'TOKEN',
  }
  expect(bodyOf(remote)).toMatchObject({
    body: {
      transport: { type: 'http', url: 'https://h/mcp', headers: { X: '1', Authorization: 'Bearer ${env:TOKEN}' } },
    },
  })
})

it.each([
  [{ env: ['A=1', 'B=x=y'] }],
  [
    {
      env: [
        { name: 'A', value: '1' },
        { key: 'B', value: 'x=y' },
      ],
    },
  ],
  [{ environmentVariables: { A: '1' }, env_vars: { B: 'x=y' } }],
])('variables are read from %j', (fields) => {
  expect(bodyOf(fields)).toMatchObject({ body: { transport: { env: { A: '1', B: 'x=y' } } } })
})

it('a list of what a client does not ask about grants nothing and is no error', () => {
  for (const name of [
    'autoApprove',
    'alwaysAllow',
    'trust',
    'disabledAutoApproveTools',
    'tool_timeout_sec',
    'rejectUnauthorized',
  ]) {
    expect(bodyOf({ [name]: ['a'] })).toEqual(bodyOf({}))
    expect(meantRestriction(name)).toBeUndefined()
  }
})

it.each([
  'refusedTools',
  'excludedMethods',
  'allowTool',
  'onlyRead',
  'disableTool',
  'blockList',
  'toolFilter',
  'tool_configuration',
  'tool-whitelist',
  'quarantined',
])('a field %s, which no client has, is taken for a restriction', (name) => {
  expect(meantRestriction(name)).toBeTypeOf('string')
  expect(meantRestriction(`_${name}`)).toBeUndefined()
})

it.each<[object, object]>([
  [
    { auth: { CLIENT_ID: 'c', CLIENT_SECRET: 's', scopes: ['a', 'b'] } },
    { clientId: 'c', clientSecret: 's', scope: 'a b' },
  ],
  [
    { oauth: { client_id: 'c', callback_url: 'http://localhost/cb' } },
    { clientId: 'c', redirectUri: 'http://localhost/cb' },
  ],
  [
    { oauth: { authUrl: 'https://h/a', token_url: 'https://h/t', redirectUrl: 'http://localhost/cb' } },
    { authorizationUrl: 'https://h/a', tokenUrl: 'https://h/t', redirectUri: 'http://localhost/cb' },
  ],
  [{ oauthClientId: 'c', oauthPublicClient: true }, { clientId: 'c' }],
  [
    { oauth: { oauthScopes: ['a'] }, oauth_resource: 'https://r.example' },
    { scope: 'a', resource: 'https://r.example' },
  ],
])('a sign-in as %j has the meaning that it has in its client', (fields, signIn) => {
  expect(bodyOf({ command: undefined, url: 'https://h/mcp', ...fields })).toMatchObject({
    body: { transport: { signIn } },
  })
})

it.each([
  { oauth: { audiences: ['a'] } },
  { oauth: { tokenParamName: 'access_token' } },
  { authProviderType: 'google_credentials' },
  { oauthClientId: 'c', oauthPublicClient: false },
  { oauthGrantType: 'client_credentials' },
])('a server that is authorized as only another client can, by %j, is skipped with the reason', (fields) => {
  const [name = ''] = Object.keys(fields).slice(-1)
  const reason = expect.stringMatching(`^has ${name}\\b.* only its own client supports$`) as string
  expect(bodyOf({ command: undefined, url: 'https://h/mcp', ...fields })).toEqual({ reason })
})

it('a server with other fields of those names, or with empty ones, is kept', () => {
  for (const fields of [
    { auth: 'oauth' },
    { oauth: false },
    { oauth: { audiences: [] } },
    { authProviderType: 'dynamic_discovery' },
  ])
    expect(bodyOf({ command: undefined, url: 'https://h/mcp', ...fields })).toHaveProperty('body')
})

it('a command may be one list of the program and its arguments', () => {
  expect(bodyOf({ command: ['x', 'a'], args: ['b'] })).toMatchObject({
    body: { transport: { command: 'x', args: ['a', 'b'] } },
  })
  expect(bodyOf({ command: [] })).toHaveProperty('reason')
})
