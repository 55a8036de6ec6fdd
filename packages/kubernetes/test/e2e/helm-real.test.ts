// @module-tag whole: it needs a real cluster
// This file verifies the Helm chart on a real cluster, if there is one: helm installs it with the bridge's image, as an
// administrator would.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { buildBridgeImage, docker } from '@sandbridge/core/test/support/sandboxes/bridge-image.ts'
import { programOrSkip, type Ran, toolOrSkip } from '../support/cluster-tools.ts'
import { NODE_IMAGE } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { HttpBridge, type HttpClient } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { CHART } from '../support/manifests.ts'
import { loadImage, REAL_KUBECONFIG, skipWithoutOwnCluster } from '../support/real-cluster.ts'
import { handleIn } from './durable-pods.ts'

const IMAGE = 'localhost/sandbridge-bridge:test'
const NAMESPACE = 'sandbridge-by-helm'
const SANDBOXES = 'sandbridge-by-helm-sandboxes'
const TOKEN = 'a-token-of-all-replicas'
const READY_MS = 120_000

const PROGRAM = readFileSync(path.join(ROOT, 'packages/kubernetes/test/fixtures/servers/in-pod.py'), 'utf8')
const VALUES = {
  image: { repository: 'localhost/sandbridge-bridge', tag: 'test', pullPolicy: 'Never' },
  replicas: 2,
  drainSeconds: 60,
  sandboxes: { namespace: SANDBOXES },
  serversInPods: { enabled: true, image: NODE_IMAGE },
  servers: { local: { command: 'python3', args: ['-c', PROGRAM] } },
  settings: {
    MCP_BRIDGE_IMAGE: NODE_IMAGE,
    MCP_BRIDGE_SESSION: 'durable',
    // This cluster does not enforce network policies.
    MCP_BRIDGE_KUBERNETES_NETWORK: 'unchecked',
    MCP_BRIDGE_POOL: '0',
  },
  settingsSecrets: ['handles'],
}

/** kubectl and helm as administrator. */
function tools() {
  const asAdmin =
    (run: (...args: string[]) => Ran, context: string) =>
    (...args: string[]) => {
      const { status, stdout, stderr } = run(
        '--kubeconfig',
        REAL_KUBECONFIG!,
        context,
        'admin',
        '--namespace',
        NAMESPACE,
        ...args,
      )
      if (status !== 0) throw new Error(`${args[0]}: ${stderr}`)
      return stdout
    }
  return {
    helm: asAdmin(toolOrSkip('helm'), '--kube-context'),
    kubectl: asAdmin(toolOrSkip('kubectl'), '--context'),
  }
}

it(
  'the Helm chart installs two replicas that serve the same sessions, and one that is deleted lets its cell end',
  { timeout: 300_000 },
  async () => {
    skipWithoutOwnCluster()
    const { helm, kubectl } = tools()
    buildBridgeImage(IMAGE)
    onTestFinished(() => void docker('rmi', '--force', IMAGE))
    await loadImage(IMAGE)

    const deleteNamespaces = (...options: string[]) =>
      kubectl('delete', 'namespace', NAMESPACE, SANDBOXES, '--ignore-not-found', ...options)
    // Those of an earlier try may still be being deleted.
    deleteNamespaces()
    kubectl('create', 'namespace', NAMESPACE)
    onTestFinished(() => void deleteNamespaces('--wait=false'))
    kubectl('create', 'secret', 'generic', 'sandbridge', `--from-literal=token=${TOKEN}`)
    kubectl('create', 'secret', 'generic', 'handles', `--from-literal=MCP_BRIDGE_HANDLE_KEY=${'k'.repeat(32)}`)
    const sets = Object.entries(VALUES).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])
    helm('install', 'sandbridge', CHART, '--wait', '--timeout', `${READY_MS / 1000}s`, ...sets)
    onTestFinished(() => void helm('uninstall', 'sandbridge'))

    const pods = kubectl('get', 'pods', '--output', 'name').trim().split('\n')
    expect(pods).toHaveLength(2)
    const [a, b] = await Promise.all(pods.map((pod) => connectTo(pod)))
    const session = handleIn(await a!.run('x = 20'))
    expect(await b!.run('x + 1', { session })).toBe('21')
    expect(await b!.run('print(await mcp_local.who())', { session })).toMatch(/^[0-9a-f]{16}$/)

    const cell = "print('has begun', flush=True)\nimport time\ntime.sleep(8)\nx = 30\n'came to its end'"
    let answer!: Promise<string>
    const printed = new Promise<string>((resolve) => {
      const onprogress = ({ message = '' }) => void (message.includes('has begun') && resolve('has begun'))
      answer = a!.run(cell, { session }, { onprogress })
    })
    expect(await Promise.race([printed, answer])).toBe('has begun')
    kubectl('delete', pods[0]!, '--wait=false')
    expect(await answer).toContain('came to its end')
    expect(await b!.run('x', { session })).toBe('30')
    kubectl('rollout', 'status', 'deployment/sandbridge', `--timeout=${READY_MS / 1000}s`)
  },
)

/** A client of one replica, through a port of this machine. */
async function connectTo(pod: string): Promise<HttpClient> {
  const kubectl = programOrSkip('kubectl')
  const args = ['--kubeconfig', REAL_KUBECONFIG!, '--context', 'admin', '--namespace', NAMESPACE]
  const child = spawn(kubectl, [...args, 'port-forward', pod, ':8080'], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill())
  const bridge = new HttpBridge({
    home: '',
    child,
    url: `http://127.0.0.1:${await forwardedPort(child)}/mcp`,
    token: TOKEN,
    stderr: () => '',
  })
  return bridge.connect('modern')
}

function forwardedPort(child: ChildProcess): Promise<string> {
  child.stderr!.resume()
  let text = ''
  return new Promise((resolve, reject) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const [, port] = /127\.0\.0\.1:(\d+) -> 8080/.exec(text) ?? []
      if (port !== undefined) resolve(port)
    })
    child.once('exit', () => reject(new Error('kubectl port-forward has ended')))
  })
}
