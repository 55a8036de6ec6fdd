// What a session in Kubernetes promises while bridges come and go: real bridges over HTTP on one cluster, fake or real.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, it, vi } from 'vitest'
import { CLI, bridgeEnv, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type HttpBridge, type HttpClient, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { tokenFor } from '@sandbridge/core/test/support/bridges/http-users.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

export interface DurableCluster {
  /** Settings of a bridge on this cluster. */
  env: Record<string, string>
  /** Skips the test when the cluster or something it needs is missing. */
  skipWithout: () => Promise<void> | void
  stopApiServer: () => Promise<void>
  startApiServer: () => Promise<void>
  /** How long it is down in a test. */
  awayMs: number
  deletePods: () => Promise<void>
}

/** How replicas find each other's sessions, and who may use them. */
const SHARED = {
  MCP_BRIDGE_SESSION: 'durable',
  MCP_BRIDGE_HANDLE_KEY: 'k'.repeat(32),
  MCP_BRIDGE_HTTP_TOKEN: 'a-token-of-all-replicas',
}

/** Replicas with a server whose effects are lines of a file. */
export async function startReplicas(cluster: Pick<DurableCluster, 'env'>, count: number) {
  const folder = newFolder()
  const ledger = path.join(folder, 'lines')
  const server = { ...fixtureServer('ledger.mjs'), env: { LEDGER: ledger } }
  const servers = { ledger: server, slow: server }
  const bridges = await Promise.all(
    Array.from({ length: count }, () => startHttpBridge({ servers, env: { ...cluster.env, ...SHARED } })),
  )
  const clients = await Promise.all(bridges.map((bridge) => bridge.connect('modern')))
  const lines = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [])
  return { bridges, clients, ledger, lines }
}

/**
 * Kills the bridge after it has recorded that the client has the results so far, which it does right after sending
 * them.
 */
async function kill({ child }: HttpBridge, client?: HttpClient): Promise<void> {
  await client?.client.listTools()
  await sleep(200)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGKILL')
  await ended
}

export function handleIn(text: string): string {
  const [, handle] = /session="([\w-]+)"/.exec(text) ?? []
  if (handle === undefined) throw new Error(`no handle in: ${text}`)
  return handle
}

const TWO_CALLS = `
first = asyncio.ensure_future(mcp_ledger.add_line(text='first'))
await asyncio.sleep(2)
print('printed alone')
second = asyncio.ensure_future(mcp_ledger.add_line(text='second'))
answers = await asyncio.gather(first, second, return_exceptions=True)
[getattr(answer, 'code', answer) for answer in answers]`

const MANY_CALLS = `
held = asyncio.ensure_future(mcp_slow.add_line(text='held'))
while 'held' not in await mcp_ledger.lines():
    await asyncio.sleep(0.02)
for number in range(40):
    print('line', number)
    await mcp_ledger.add_line(text=str(number))
    await asyncio.sleep(0.05)
await held`

export function testDurablePods(cluster: DurableCluster): void {
  const env = { ...cluster.env, ...SHARED }
  vi.setConfig({ testTimeout: 120_000 + cluster.awayMs })
  beforeEach(cluster.skipWithout)

  it('a session goes from one replica to the other and back, each waits for the cell of the other, and outlives a killed one', async () => {
    const { bridges, clients, lines } = await startReplicas(cluster, 2)
    const [a, b] = clients
    const session = handleIn(await a!.run('x = 1'))
    expect(await b!.run('x += 1; x', { session })).toBe('2')
    expect(await a!.run('x += 1; x', { session })).toBe('3')
    expect(await b!.run('x += 1; x, runtime.session().cellCount', { session })).toBe('(4, 4)')
    // Both at once.
    const long = a!.run(
      "await mcp_ledger.add_line(text='begun')\nimport asyncio\nawait asyncio.sleep(1)\ny = 5\n'over'",
      { session },
    )
    await until(() => lines().includes('begun'))
    const [first, second] = await Promise.all([long, b!.run('y', { session })])
    expect([first, second]).toEqual(["'over'", '5'])
    const both = await Promise.all([a!, b!, a!, b!].map((client) => client.run('x += 1; x', { session })))
    expect(both.toSorted()).toEqual(['5', '6', '7', '8'])
    await b!.run('1', { session })
    await kill(bridges[1]!, b)
    expect(await a!.run('x', { session })).toBe('8')
    // A reset leads to another pod, and the result has its handle.
    await a!.run('runtime.reset()', { session })
    const next = await a!.run("'x' in globals()", { session })
    expect(next).toMatch(/^False/)
    expect(handleIn(next)).not.toBe(session)
  })

  it('a cell goes on when its replica is killed, another replica has its result, and no call is made twice', async () => {
    const { bridges, clients, ledger, lines } = await startReplicas(cluster, 2)
    const [a, b] = clients
    writeFileSync(`${ledger}.silent`, '')
    const session = handleIn(await a!.run('import asyncio'))
    const answer = a!.run(TWO_CALLS, { session }).catch(() => 'no answer')
    await until(() => lines().includes('first'))
    await kill(bridges[0]!)
    expect(await answer).toBe('no answer')
    rmSync(`${ledger}.silent`)
    const text = await b!.run('"next"', { session })
    expect(text).toMatch(/^'next'\n\[sandbridge: Cell 2, which ran when the bridge ended, has finished/)
    expect(text).toContain('printed alone')
    expect(text).toContain("['CALL_INTERRUPTED', 'added second']")
    expect(lines()).toEqual(['first', 'second'])
    expect(await b!.run('len(answers)', { session })).toBe('2')
  })

  it('a cell in a pod does not notice that the API server is killed and comes back, and neither output nor calls are lost or come twice', async () => {
    const { clients, ledger, lines } = await startReplicas(cluster, 1)
    const [client] = clients
    writeFileSync(`${ledger}.held`, '')
    const session = handleIn(await client!.run('import asyncio'))
    const running = client!.run(MANY_CALLS, { session, timeout: 120 }, { timeout: 300_000 })
    await Promise.race([running, until(() => lines().length > 5)])
    await cluster.stopApiServer()
    await sleep(cluster.awayMs / 2)
    // Releases the reply of a call that began before.
    rmSync(`${ledger}.held`)
    await sleep(cluster.awayMs / 2)
    await cluster.startApiServer()
    const all = Array.from({ length: 40 }, (_, number) => number)
    expect(await running).toBe(`${all.map((number) => `line ${number}`).join('\n')}\n'added held'`)
    expect(lines()).toEqual(['held', ...all.map(String)])
  })

  it('a session handle of another user, or one that was forged, is an unknown session at every replica', async () => {
    const { bridges, clients } = await startReplicas(cluster, 2)
    const [a, b] = clients
    const session = handleIn(await a!.run('secret = 7'))
    const tokens = bridges.map((bridge) => tokenFor(bridge, 'bob'))
    const unknown = 'Unknown or expired session'
    for (const [index, bridge] of bridges.entries()) {
      const bob = await bridge.connect('modern', { token: tokens[index]! })
      expect(await bob.run('secret', { session })).toContain(unknown)
      const forged = Buffer.from(session, 'base64url')
      forged[20]! ^= 1
      expect(await clients[index]!.run('secret', { session: forged.toString('base64url') })).toContain(unknown)
    }
    expect(await b!.run('secret', { session })).toBe('7')
    // A session whose pod is gone is unknown, and is not replaced by a new one.
    await cluster.deletePods()
    await kill(bridges[1]!)
    const third = await startHttpBridge({ env })
    expect(await (await third.connect('modern')).run('secret', { session })).toContain(unknown)
  })

  it('an older client is told that the replica of its conversation is lost, and has its variables back once it initializes again', async () => {
    // Replicas run in the same folder of their image.
    const home = makeHome()
    const [a, b] = await Promise.all([startHttpBridge({ home, env }), startHttpBridge({ home, env })])
    const first = await a.connect('legacy')
    await first.run('x = 5')
    const lost = first.transport.sessionId!
    await kill(a, first)
    const headers = {
      authorization: `Bearer ${b.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': lost,
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const response = await fetch(b.url, { method: 'POST', headers, body })
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining('another bridge had it, which has ended or was not reached. Initialize again'),
    ])
    // Its pods are taken over only when it is certain that the replica is gone.
    await sleep(7_000)
    expect(await (await b.connect('legacy')).run('x')).toBe('5')
  })

  it('sandbridge sandboxes lists the pod of a session, and ends it only when no bridge has it', async () => {
    const home = makeHome()
    const sandbridge = (...args: string[]) =>
      runProgram(process.execPath, [CLI, 'sandboxes', ...args], bridgeEnv(home, env))
    const list = async () => JSON.parse((await sandbridge('--json')).stdout) as { id: string; state: string }[]
    const others = new Set((await list()).map(({ id }) => id))
    const own = async () => (await list()).filter(({ id }) => !others.has(id))
    const bridge = await startHttpBridge({ env })
    await (await bridge.connect('modern')).run('x = 1')
    const listed = await own()
    expect(listed).toEqual([expect.objectContaining({ state: 'in use', bridge: expect.stringContaining('process') })])
    const { id } = listed[0]!
    const refused = await sandbridge('--remove', id)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`is using the sandbox '${id}'`)])
    bridge.child.kill('SIGTERM')
    await until(async () => (await own()).every(({ state }) => state === 'waiting'))
    expect((await sandbridge('--remove', id)).stdout).toBe(`Ended '${id}'. Its variables are gone.\n`)
    expect((await own()).filter(({ state }) => state !== 'ended')).toEqual([])
    expect((await sandbridge('--remove', 'sandbridge-00')).stderr).toContain("There is no sandbox 'sandbridge-00'")
  })

  it('a bridge over HTTP does not start with durable sessions in Kubernetes and no key of handles', async () => {
    const home = makeHome()
    const settings = bridgeEnv(home, { ...env, MCP_BRIDGE_HANDLE_KEY: '' })
    const { code, stderr } = await runProgram(process.execPath, [CLI, 'run', '--http', '0'], settings)
    expect(code).not.toBe(0)
    expect(stderr).toContain('needs MCP_BRIDGE_HANDLE_KEY')
  })
}
