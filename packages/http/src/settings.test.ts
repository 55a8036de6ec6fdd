import { expect, it } from 'vitest'
import { addSettings, readSettings } from '../../core/src/config/settings/settings.ts'
import { HTTP_SETTINGS } from './settings.ts'

addSettings('HTTP', HTTP_SETTINGS)

const read = (env: Record<string, string>) => readSettings(env, { home: '/home/ann', platform: 'linux', isRoot: false })

it.each([
  [
    {},
    {
      handleKey: undefined,
      httpToken: undefined,
      publicNames: [],
      oauthIssuers: [],
      oauthAudience: undefined,
      oauthScopes: [],
      httpSessionCount: 16,
      userSandboxCount: undefined,
      drainMs: 0,
    },
  ],
  [{ MCP_BRIDGE_DRAIN: '1 day' }, { drainMs: 86_400_000 }],
  [{ MCP_BRIDGE_OAUTH: 'issuer=https://a.example,https://b.example scopes=x,y' }, { oauthScopes: ['x', 'y'] }],
  [{ MCP_BRIDGE_HTTP_LIMITS: 'sessions=64 userCalls=3' }, { httpSessionCount: 64, userCallCount: 3 }],
])('settings of HTTP are read: %j', (env: Record<string, string>, expected) => {
  expect(read(env)).toMatchObject({ ...expected, warnings: [] })
})

it('no error repeats a token', () => {
  expect(() => read({ MCP_BRIDGE_HTTP_TOKEN: 'hunter2 hunter3' })).toThrow('MCP_BRIDGE_HTTP_TOKEN')
  expect(() => read({ MCP_BRIDGE_HTTP_TOKEN: 'hunter2 hunter3' })).not.toThrow('hunter2')
})
