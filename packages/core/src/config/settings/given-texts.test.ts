import { expect, it } from 'vitest'
import { readSettings } from './settings.ts'

const read = (env: Record<string, string>) => readSettings(env, { home: '/home/ann', platform: 'linux', isRoot: false })

it.each([
  [{ MCP_BRIDGE_POOL: '2 max=8' }, { poolCount: 2, poolMaxCount: 8 }],
  [{ MCP_BRIDGE_POOL: 'max=8' }, { poolCount: 1, poolMaxCount: 8 }],
  [{ MCP_BRIDGE_POOL: '2' }, { poolCount: 2, poolMaxCount: undefined }],
  [
    { MCP_BRIDGE_KUBERNETES: ' namespace=a  network=unchecked\tstart=9 ' },
    { kubernetesNamespace: 'a', kubernetesNetwork: 'unchecked', kubernetesStartMs: 9_000 },
  ],
  [
    { MCP_BRIDGE_MASK: 'email, card endpoint=http://h:5002/a=b?c=d' },
    { mask: ['email', 'card'], maskEndpoint: 'http://h:5002/a=b?c=d' },
  ],
  [{ MCP_BRIDGE_HTTP_LIMITS: 'userSeconds=60 userCalls=3' }, { userCellSeconds: 60, userCallCount: 3 }],
  [{ MCP_BRIDGE_KUBERNETES: 'namespace=a namespace=b' }, { kubernetesNamespace: 'b' }],
  [{ MCP_BRIDGE_PACKAGES: 'max=8 numpy' }, { packages: ['max=8', 'numpy'] }],
])('settings share a variable: %j', (env, expected) => {
  expect(read(env)).toMatchObject({ ...expected, warnings: [] })
})

it.each([
  [
    { MCP_BRIDGE_KUBERNETES: 'netwrok=unchecked' },
    /^MCP_BRIDGE_KUBERNETES: "netwrok" is not allowed. Did you mean network\?/,
  ],
  [{ MCP_BRIDGE_KUBERNETES: 'unchecked' }, /a word without a name is not allowed/],
  [
    { MCP_BRIDGE_KUBERNETES: 'start=1' },
    /^MCP_BRIDGE_KUBERNETES=start: "1" is not allowed. Allowed: seconds, 5 to 1800/,
  ],
  [{ MCP_BRIDGE_KUBERNETES: '__proto__=1' }, /"__proto__" is not allowed/],
  [{ MCP_BRIDGE_POOL: '1 mex=8' }, /^MCP_BRIDGE_POOL: "mex" is not allowed. Did you mean max\?/],
  [{ MCP_BRIDGE_POOL: 'max=99' }, /^MCP_BRIDGE_POOL=max: "99" is not allowed/],
])('%j is refused', (env, problem) => {
  expect(() => read(env)).toThrow(problem)
})

it.each([
  { MCP_BRIDGE_SIGN_IN_KEY: 'hunter2' },
  { MCP_BRIDGE_KUBERNETES: 'contxt=hunter2' },
  { MCP_BRIDGE_KUBERNETES: 'hunter2' },
  { MCP_BRIDGE_MASK: 'email endpoint=hunter2' },
  { MCP_BRIDGE_MASK: 'email endpint=http://ann:hunter2@h' },
])('no error repeats a secret: %j', (env: Record<string, string>) => {
  expect(() => read(env)).toThrow()
  expect(() => read(env)).not.toThrow('hunter2')
})
