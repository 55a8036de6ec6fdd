// Pods of a real cluster, and a container of this machine in the same run. Measures nothing without a cluster
// (SANDBRIDGE_TEST_KUBECONFIG).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kernel } from '../../core/src/cell/kernel/kernel.ts'
import { findPrograms } from '../../core/src/util/process/find-program.ts'
import { podManifest } from '@sandbridge/kubernetes/pod/pod-manifest.ts'
import { PodSandbox } from '@sandbridge/kubernetes/pod-sandbox.ts'
import type { Provider } from '../../core/src/isolation/provider.ts'
import { closeTestBridge, fixtureServer, openTestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import type { TestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { collectGarbage } from '@sandbridge/core/test/support/suite/collect-garbage.ts'
import { makeProvider, NODE_IMAGE, runtimeEnv, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import {
  asAdmin,
  NO_CLUSTER,
  REAL_ENV,
  REAL_KUBECONFIG,
  realPods,
} from '@sandbridge/kubernetes/test/support/real-cluster.ts'
import { median, ms, ratio, samples, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow, reported } from '../../../bench/row.ts'

const LIMITS = { memoryBytes: 512 * 2 ** 20 }
const GOALS = { firstCellMs: 60, local: 2, cold: 1.3, floodMegabytes: 16 }
const STARTS = 7
const WARM_ECHOES = 500
const ECHOES = 1_000
/** About the size of a call frame. */
const CALL_BYTES = 120
/** Enough time for the pool to fill. */
const POOL_MS = 6_000

export default async function kubernetesRows(): Promise<BenchRow[]> {
  if (REAL_KUBECONFIG === undefined) return [{ name: 'not measured', value: NO_CLUSTER, goal: 'a cluster', ok: null }]
  const provider = realPods()
  await provider.prepare()
  return [
    ...(await firstCellRows()),
    ...(await localRows()),
    await echoRow(),
    ...(await coldRows(provider)),
    await floodRow(provider),
  ]
}

async function firstCellRows(): Promise<BenchRow[]> {
  const times = await samples(STARTS, async () => {
    const bridge = await openTestBridge({ env: REAL_ENV })
    await bridge.client.listTools()
    await sleep(POOL_MS)
    const time = await timed(() => bridge.run('pass'))
    await closeTestBridge(bridge)
    return time
  })
  return [atMost('first cell of a fresh session from the pool', median(times), GOALS.firstCellMs, ms)]
}

type Times = Record<'pods' | 'durable' | 'piped' | 'local', number[]>

/** Alternating, so that all have the same load. */
async function localRows(): Promise<BenchRow[]> {
  const servers = { raw: fixtureServer('raw.mjs', 'good') }
  const missing = await whyNot(makeProvider('docker', NODE_IMAGE))
  if (missing !== undefined) return [{ name: 'beside a container', value: missing, goal: 'docker', ok: null }]
  const pods = await openTestBridge({ servers, env: REAL_ENV })
  const durable = await openTestBridge({ servers, env: { ...REAL_ENV, MCP_BRIDGE_SESSION: 'durable' } })
  const local = await openTestBridge({ servers, env: runtimeEnv('docker', NODE_IMAGE) })
  const remote = dockerOfAnotherMachine()
  const piped = await openTestBridge({ servers, env: { ...runtimeEnv('docker', NODE_IMAGE), PATH: remote.path } })
  const bridges = { pods, durable, piped, local }
  for (const bridge of Object.values(bridges))
    await bridge.run('import time\nfor n in range(300): await mcp_raw.echo(text="x")')
  const cell: Times = { pods: [], durable: [], piped: [], local: [] }
  const call: Times = { pods: [], durable: [], piped: [], local: [] }
  for (let round = 0; round < 25; round += 1) {
    for (const [name, bridge] of Object.entries(bridges) as [keyof Times, TestBridge][]) {
      cell[name].push(...(await samples(10, () => timed(() => bridge.run('pass')))))
      call[name].push(await callMs(bridge))
    }
  }
  await Promise.all(Object.values(bridges).map(closeTestBridge))
  remote.remove()
  const times = (of: Times) =>
    [of.pods, of.durable, of.piped, of.local].map((measured) => ms(median(measured))).join(', ')
  const longer = (of: Times) => ratio(median(of.durable) / median(of.pods))
  return [
    reported('live cell: pod, durable pod, container through its engine, container', times(cell)),
    atMost('live cell ÷ the same in a local container', median(cell.pods) / median(cell.local), GOALS.local, ratio),
    reported('tool call: pod, durable pod, container through its engine, container', times(call)),
    atMost('tool call ÷ the same in a local container', median(call.pods) / median(call.local), GOALS.local, ratio),
    atMost('tool call ÷ the same through the engine', median(call.pods) / median(call.piped), GOALS.local, ratio),
    reported('durable pod ÷ ordinary pod: live cell, tool call', `${longer(cell)}, ${longer(call)}`),
  ]
}

/**
 * A `docker` that reports another machine's name, so that frames pass the engine as they do with a remote one. A pod's
 * frames pass the cluster in the same way, while those of a local container bypass the engine.
 */
function dockerOfAnotherMachine(): { path: string; remove: () => void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'docker-'))
  const [docker] = findPrograms('docker')
  const script = `[ "$1" = info ] || exec '${docker}' "$@"\n'${docker}' "$@" | sed 's/"Name":"[^"]*"/"Name":"elsewhere"/g'\n`
  writeFileSync(path.join(folder, 'docker'), `#!/bin/sh\n${script}`, { mode: 0o755 })
  return {
    path: `${folder}:${process.env['PATH']}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function callMs(bridge: TestBridge): Promise<number> {
  const code = '_t = time.perf_counter()\nfor n in range(50): await mcp_raw.echo(text="x")\n'
  const printed = await bridge.run(`${code}print((time.perf_counter() - _t) * 1000 / 50)`)
  if (!Number.isFinite(Number(printed))) throw new Error(`the calls failed: ${printed}`)
  return Number(printed)
}

/**
 * From requesting a pod to the result of a cell, and how long the cluster takes to run the same pod without a bridge.
 */
async function coldRows(provider: Provider): Promise<BenchRow[]> {
  const own: number[] = []
  const ours: number[] = []
  for (let round = 0; round < STARTS; round += 1) {
    own.push(await untilRunningMs(`bench-${process.pid}-${round}`))
    let kernel: Kernel | undefined
    ours.push(
      await timed(async () => {
        kernel = await Kernel.attach(await provider.start(LIMITS))
        const observer = { onOutput: () => {}, onDisplay: () => {}, onCall: async () => null }
        await kernel.run({ code: 'pass', servers: [], observer })
      }),
    )
    await kernel?.dispose()
  }
  const times = `${ms(median(ours))} and ${ms(median(own))}`
  return [
    reported('cold pod to first result, and the cluster’s own time to Running', times),
    atMost('cold pod to first result ÷ that', median(ours) / median(own), GOALS.cold, ratio),
  ]
}

/** A pod without a kernel. */
function plainPod(name: string, program: string) {
  return podManifest({
    name,
    bridge: 'bench',
    startedBy: 'bench',
    image: NODE_IMAGE,
    user: 10_000,
    group: 65_534,
    memoryBytes: LIMITS.memoryBytes,
    cpus: undefined,
    projects: false,
    runtimeClass: undefined,
    environment: {},
    pythonArgs: ['-I', '-c', program],
  })
}

/** The cluster's own time for a tool call in a pod: from a bridge to a pod and back, over the same channel. */
async function echoRow(): Promise<BenchRow> {
  const cluster = await asAdmin()
  const name = `bench-${process.pid}-echo`
  const manifest = plainPod(name, 'import os\nwhile data := os.read(0, 65536): os.write(1, data)')
  const pod = await PodSandbox.create({
    cluster,
    name,
    image: NODE_IMAGE,
    manifest,
    preamble: Buffer.alloc(0),
    startTimeoutMs: 60_000,
  })
  await pod.attached
  let heard = () => {}
  pod.stdout.on('data', () => heard())
  const echo = async () => {
    const back = new Promise<void>((resolve) => (heard = resolve))
    pod.stdin.write(`${'x'.repeat(CALL_BYTES)}\n`)
    await back
  }
  await samples(WARM_ECHOES, () => timed(echo))
  const times = await samples(ECHOES, () => timed(echo))
  await pod.dispose()
  return reported('an echo in a pod over the same channel, without kernel and server', ms(median(times)))
}

/** Measured by polling the cluster continuously. */
async function untilRunningMs(name: string): Promise<number> {
  const cluster = await asAdmin()
  const manifest = plainPod(name, 'import sys; sys.stdin.read()')
  const time = await timed(async () => {
    await cluster.create('pods', manifest)
    for (;;) {
      const pod = await cluster.getPod(name)
      if (pod === 'gone') throw new Error('the pod is gone')
      if (pod.isRunning) return
      await sleep(5)
    }
  })
  await cluster.deletePod(name, 0)
  return time
}

/** Memory of this process while a pod writes 64 MiB that are not read. */
async function floodRow(provider: Provider): Promise<BenchRow> {
  const sandbox = await provider.start(LIMITS)
  const kernel = await Kernel.attach(sandbox)
  await collectGarbage()
  const before = process.memoryUsage().rss
  let isFirst = true
  const stalled = new Promise<number>((resolve) => {
    sandbox.stdout.on('data', () => {
      if (!isFirst) return
      isFirst = false
      sandbox.stdout.pause()
      setTimeout(() => resolve(process.memoryUsage().rss), 3_000)
    })
  })
  const observer = { onOutput: () => {}, onDisplay: () => {}, onCall: async () => null }
  const running = kernel.run({ code: "for _ in range(1024):\n    print('x' * 65535)", servers: [], observer })
  const more = ((await stalled) - before) / 2 ** 20
  sandbox.stdout.resume()
  await running
  await kernel.dispose()
  return atMost(
    '64 MiB of output with a stalled reader: memory',
    more,
    GOALS.floodMegabytes,
    (value) => `${value.toFixed(1)} MB`,
  )
}
