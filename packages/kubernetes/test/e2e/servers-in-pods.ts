// What servers in pods promise, with the built bridge on one cluster, fake or real: a cell calls one, it is stopped and
// started again, and its secrets stay secret.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { bridgeEnv, CLI, ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import type { Manifest } from '../support/fake-cluster/manifest.ts'
import type { Secret } from '../support/fake-cluster/secrets.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { connectAs, give } from '@sandbridge/core/test/support/bridges/http-users.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

export interface ServersCluster {
  /** Settings of a bridge on this cluster. */
  env: Record<string, string>
  /** An image with python3. */
  image: string
  /** Skips the test when the cluster or something it needs is missing. */
  skipWithout: () => Promise<void> | void
  /** Pods of servers that are not being ended. */
  serverPods: () => Promise<Manifest[]>
  secrets: () => Promise<Secret[]>
  /** Ends a pod from outside. */
  end: (name: string) => Promise<void>
  /** How the bridge reports that. */
  ended: string
  isRunning: (name: string) => Promise<boolean>
  remove: (name: string) => Promise<void>
}

const PROGRAM = readFileSync(path.join(ROOT, 'packages/kubernetes/test/fixtures/servers/in-pod.py'), 'utf8')
const SECRET = 'theSecretOfTheServer4711'
export const WHO = 'print(await mcp_local.who())'
const STARTED_WITH = 'import json\nprint(json.dumps(await mcp_local.started_with()))'

/** As an argument of the pod, `$(HOME)` would be replaced by the kubelet. */
export const server = {
  command: 'python3',
  args: ['-c', PROGRAM, '--token=${env:SERVER_TOKEN}', '$(HOME) $$'],
  env: { TOKEN: '${env:SERVER_TOKEN}' },
}

export function serversEnv({ env, image }: Pick<ServersCluster, 'env' | 'image'>): Record<string, string> {
  return {
    ...env,
    MCP_BRIDGE_KUBERNETES: `${env['MCP_BRIDGE_KUBERNETES'] ?? ''} servers=pods`,
    MCP_BRIDGE_JAIL: `image=${image}`,
    MCP_BRIDGE_AUDIT: 'full',
    MCP_BRIDGE_LOG_LEVEL: 'debug',
    SERVER_TOKEN: SECRET,
  }
}

export function testServersInPods(cluster: ServersCluster): void {
  const { serverPods, secrets } = cluster
  const env = serversEnv(cluster)
  const runningPod = async () => {
    for (const pod of await serverPods()) if (await cluster.isRunning(pod.metadata.name)) return pod
    throw new Error('no pod of a server runs')
  }
  beforeEach(cluster.skipWithout)

  it('a server in a pod is called by cells, keeps its secrets to itself, is stopped when idle, and starts again in another pod', async () => {
    const bridge = await startBridge({ servers: { local: server }, env: { ...env, MCP_BRIDGE_UPSTREAM_IDLE: '2' } })
    expect(await bridge.run('1 + 1')).toBe('2')
    // Nothing starts before it is needed.
    expect(await serverPods()).toEqual([])
    const first = await bridge.run(WHO)
    expect(first).toMatch(/^[0-9a-f]{16}$/)
    const pod = await runningPod()
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      dnsPolicy: 'None',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ image: cluster.image, command: ['python3'], securityContext: { readOnlyRootFilesystem: true } }],
    })
    expect(pod.metadata.labels).not.toHaveProperty('sandbridge/network')
    expect(JSON.parse(await bridge.run(STARTED_WITH))).toEqual({
      args: [`--token=${SECRET}`, '$(HOME) $$'],
      token: SECRET,
      home: '/home/sandbridge',
    })
    expect(JSON.stringify(pod)).not.toContain(SECRET)
    expect((await secrets()).map(({ metadata }) => metadata)).toMatchObject([
      { name: pod.metadata.name, ownerReferences: [{ kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid }] },
    ])

    await until(async () => (await serverPods()).length === 0)
    // A Secret is deleted with its pod.
    await until(async () => (await secrets()).length === 0)
    const second = await bridge.run(WHO)
    expect(second).toMatch(/^[0-9a-f]{16}$/)
    expect(second).not.toBe(first)

    const log = await runProgram(process.execPath, [CLI, 'log', '--json'], bridgeEnv(bridge.home))
    expect(log.stdout).toContain('started_with')
    for (const text of [log.stdout, bridge.stderr]) expect(text).not.toContain(SECRET)
    await bridge.client.close()
    await until(async () => (await serverPods()).length === 0)
  })

  it('a pod of a server that ends in the middle of a call is an error that says how, and the next call has a new pod', async () => {
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
    await cluster.end((await runningPod()).metadata.name)
    const text = await waiting
    expect(text).toContain(`${cluster.ended} during the call of 'wait', which may or may not have taken`)
    expect(await bridge.run(WHO)).not.toBe(first)
    await until(() => bridge.stderr.includes('A server exited; its next use restarts it'))
    expect(bridge.stderr).not.toContain(SECRET)

    // Its pod ends with the bridge, however the bridge ended.
    const { name } = (await runningPod()).metadata
    process.kill(bridge.pid, 'SIGKILL')
    await until(async () => !(await cluster.isRunning(name)))
    await cluster.remove(name)
  })

  it('each user with something of their own has pods of their own', async () => {
    const bridge = await startHttpBridge({ servers: { local: server }, env: { ...env, MCP_BRIDGE_POOL: '0' } })
    const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
    give(bridge, 'ann', '.env', 'SERVER_TOKEN=annsTokenOfHerOwn\n')
    give(bridge, 'ben', '.env', 'SERVER_TOKEN=bensTokenOfHisOwn\n')
    expect(JSON.parse(await ann!.run(STARTED_WITH))).toMatchObject({ token: 'annsTokenOfHerOwn' })
    expect(JSON.parse(await ben!.run(STARTED_WITH))).toMatchObject({ token: 'bensTokenOfHisOwn' })
    const uids = (await serverPods()).map(({ metadata }) => metadata.uid)
    expect(uids).toHaveLength(2)
    // The cluster may not have removed earlier Secrets yet.
    const owners = (await secrets()).map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)
    expect(owners).toEqual(expect.arrayContaining(uids))
  })
}
