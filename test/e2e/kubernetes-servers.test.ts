// Servers in pods of a fake cluster, with the built bridge: a cell calls one, it is stopped and started again, and its secrets stay its own.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { USED_FOR_SERVERS, USED_VERBS } from '../../src/sandbox/kubernetes/describe-cluster.ts'
import { bridgeEnv, CLI, ROOT, type ServerEntry } from '../support/bridge-process.ts'
import { providerOrSkip } from '../support/engines.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { startHttpBridge } from '../support/http-bridge.ts'
import { connectAs, give } from '../support/http-users.ts'
import { until } from '../support/processes.ts'
import { runProgram } from '../support/run-program.ts'
import { startBridge } from '../support/start-bridge.ts'

const cluster = await FakeCluster.start()
afterAll(() => cluster.stop())

const PROGRAM = readFileSync(path.join(ROOT, 'test/fixtures/servers/in-pod.py'), 'utf8')
const SECRET = 'theSecretOfTheServer4711'
const IMAGE = 'registry.example.com/python:3'

const env = {
  MCP_BRIDGE_RUNTIME: 'kubernetes',
  MCP_BRIDGE_UPSTREAMS: 'pods',
  MCP_BRIDGE_JAIL_IMAGE: IMAGE,
  KUBECONFIG: cluster.kubeconfig,
  MCP_BRIDGE_KUBERNETES_NETWORK: 'unchecked',
  MCP_BRIDGE_AUDIT: 'full',
  MCP_BRIDGE_LOG_LEVEL: 'debug',
  SERVER_TOKEN: SECRET,
}
/** `$(HOME)` would be replaced by the kubelet, were it an argument of the pod. */
const server = {
  command: 'python3',
  args: ['-c', PROGRAM, '--token=${env:SERVER_TOKEN}', '$(HOME) $$'],
  env: { TOKEN: '${env:SERVER_TOKEN}' },
}

const jailed = (entry: ServerEntry, sandbox: object): ServerEntry => Object.assign({}, entry, { sandbox })
const serverPods = () => cluster.pods.list().filter(({ metadata }) => metadata.labels?.['sandbridge/role'] === 'server')
const runningPod = () => serverPods().find(({ metadata }) => cluster.isRunning(metadata.name))!
const WHO = 'print(await mcp_local.who())'
const STARTED_WITH = 'import json\nprint(json.dumps(await mcp_local.started_with()))'

it(
  'a server in a pod is called by cells, keeps its secrets to itself, is stopped when idle, and starts again in another pod',
  { timeout: 120_000 },
  async (ctx) => {
    await providerOrSkip('bubblewrap', ctx)
    cluster.verbs.clear()
    const bridge = await startBridge({ servers: { local: server }, env: { ...env, MCP_BRIDGE_UPSTREAM_IDLE: '2' } })
    expect(await bridge.run('1 + 1')).toBe('2')
    // Nothing starts before it is needed.
    expect(serverPods()).toEqual([])
    const first = await bridge.run(WHO)
    expect(first).toMatch(/^[0-9a-f]{16}$/)
    const pod = runningPod()
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      dnsPolicy: 'None',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ image: IMAGE, command: ['python3'], securityContext: { readOnlyRootFilesystem: true } }],
    })
    expect(pod.metadata.labels).not.toHaveProperty('sandbridge/network')
    expect(JSON.parse(await bridge.run(STARTED_WITH))).toEqual({
      args: [`--token=${SECRET}`, '$(HOME) $$'],
      token: SECRET,
      home: '/home/sandbridge',
    })
    expect(JSON.stringify(pod)).not.toContain(SECRET)
    expect(cluster.secrets.list().map(({ metadata }) => metadata)).toMatchObject([
      { name: pod.metadata.name, ownerReferences: [{ kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid }] },
    ])

    await until(() => serverPods().length === 0)
    // A Secret goes with its pod.
    expect(cluster.secrets.list()).toEqual([])
    const second = await bridge.run(WHO)
    expect(second).toMatch(/^[0-9a-f]{16}$/)
    expect(second).not.toBe(first)

    const log = await runProgram(process.execPath, [CLI, 'log', '--json'], bridgeEnv(bridge.home))
    expect(log.stdout).toContain('started_with')
    for (const text of [log.stdout, bridge.stderr]) expect(text).not.toContain(SECRET)
    await bridge.client.close()
    await until(() => cluster.pods.list().length === 0)
    const granted = [...USED_VERBS, ...USED_FOR_SERVERS].flatMap(({ group, resource, verbs }) =>
      verbs.map((verb) => `${verb} ${group}/${resource}`),
    )
    expect(granted).toEqual(expect.arrayContaining([...cluster.verbs]))
    expect([...cluster.verbs]).toContain('create /secrets')
  },
)

it(
  'a pod of a server that ends in the middle of a call is an error that says how, and the next call has a new pod',
  { timeout: 120_000 },
  async (ctx) => {
    await providerOrSkip('bubblewrap', ctx)
    const bridge = await startBridge({ servers: { local: server }, env })
    const caught = (call: string) =>
      `try:\n    print(${call})\nexcept runtime.MCPError as error:\n    print(error.code, error)`
    expect(await bridge.run(caught('await mcp_local.end()'))).toMatch(
      /UPSTREAM_UNREACHABLE.*exited with code 7 during the call of 'end', which may or may not have taken effect\. Last output: asked for tools\/call with \[redacted\]/s,
    )
    const first = await bridge.run(WHO)
    expect(first).toMatch(/^[0-9a-f]{16}$/)
    const waiting = bridge.run(caught('await mcp_local.wait()'))
    await until(() => bridge.stderr.includes('it waits now'))
    cluster.evict(runningPod().metadata.name)
    expect(await waiting).toMatch(
      /was evicted from its node during the call of 'wait', which may or may not have taken/,
    )
    expect(await bridge.run(WHO)).not.toBe(first)
    expect(bridge.stderr).toContain('A server exited; its next use restarts it')
    expect(bridge.stderr).not.toContain(SECRET)

    // Its pod ends with the bridge, however that ended.
    const { name } = runningPod().metadata
    process.kill(bridge.pid, 'SIGKILL')
    await until(() => !cluster.isRunning(name))
    cluster.delete(name, 0)
  },
)

it('each user with something of their own has pods of their own', { timeout: 120_000 }, async (ctx) => {
  await providerOrSkip('bubblewrap', ctx)
  const bridge = await startHttpBridge({ servers: { local: server }, env: { ...env, MCP_BRIDGE_POOL: '0' } })
  const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
  give(bridge, 'ann', '.env', 'SERVER_TOKEN=annsTokenOfHerOwn\n')
  give(bridge, 'ben', '.env', 'SERVER_TOKEN=bensTokenOfHisOwn\n')
  expect(JSON.parse(await ann!.run(STARTED_WITH))).toMatchObject({ token: 'annsTokenOfHerOwn' })
  expect(JSON.parse(await ben!.run(STARTED_WITH))).toMatchObject({ token: 'bensTokenOfHisOwn' })
  expect(serverPods()).toHaveLength(2)
  const uids = serverPods().map(({ metadata }) => metadata.uid)
  expect(cluster.secrets.list().map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)).toEqual(uids)
})

it(
  'a server in a pod that may reach the internet has the label and the policy for it, and one that names domains does not start',
  { timeout: 120_000 },
  async (ctx) => {
    await providerOrSkip('bubblewrap', ctx)
    const image = 'registry.example.com/a:1'
    const open = { command: 'docker', args: ['run', '-i', '--rm', '-e', 'TOKEN', image, ...server.args.slice(0, 2)] }
    const bridge = await startBridge({
      servers: {
        local: jailed({ ...open, env: server.env }, { network: true }),
        limited: jailed(server, { network: { allowedDomains: ['api.example.com'] } }),
      },
      env,
    })
    expect(await bridge.run(WHO)).toMatch(/^[0-9a-f]{16}$/)
    const { metadata, spec } = runningPod()
    expect(metadata.labels).toMatchObject({ 'sandbridge/network': 'internet' })
    // What the image of the definition starts.
    expect(spec).toMatchObject({ dnsPolicy: 'ClusterFirst', containers: [{ image }] })
    expect(spec.containers[0]).not.toHaveProperty('command')
    expect(cluster.policies.get('sandbridge-server-network')?.spec).toMatchObject({
      podSelector: { matchLabels: { 'sandbridge/network': 'internet' } },
      policyTypes: ['Egress'],
    })
    const refused = await bridge.call({ code: 'await mcp_limited.who()' })
    expect(refused.text).toMatch(/Server 'limited' cannot run in a pod: its sandbox names domains/)
    expect(serverPods()).toHaveLength(1)
  },
)

it(
  'a server in a pod that does not run says why, and one whose pod takes long has its own time from then on',
  { timeout: 120_000 },
  async (ctx) => {
    await providerOrSkip('bubblewrap', ctx)
    const slow = Object.assign({}, server, { startTimeoutMs: 3_000 })
    const bridge = await startBridge({ servers: { broken: server, slow }, env })
    expect(await bridge.run('1 + 1')).toBe('2')
    cluster.hold = () => ({ reason: 'ErrImagePull', message: 'no such image' })
    const notPulled = await bridge.call({ code: 'await mcp_broken.who()' })
    cluster.heal()
    expect(notPulled.text).toMatch(
      /'broken' could not be started: The pod of image .* does not start: its image cannot be/,
    )
    expect(notPulled.text).toContain('no such image')
    await until(() => serverPods().length === 0)

    cluster.fail({ path: /\/attach$/, status: 404, times: 13 })
    expect((await bridge.call({ code: 'print(await mcp_slow.who())' })).text).toMatch(/^[0-9a-f]{16}/)
    cluster.heal()
  },
)
