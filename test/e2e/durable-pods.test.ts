// This file verifies that sessions in Kubernetes outlive a bridge, and that any replica takes any call: real bridges over HTTP, on one fake cluster whose
// pods are processes in bubblewrap.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { CLI, bridgeEnv, fixtureServer, makeHome } from '../support/bridge-process.ts'
import { providerOrSkip } from '../support/engines.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { type HttpBridge, type HttpClient, startHttpBridge } from '../support/http-bridge.ts'
import { tokenFor } from '../support/http-users.ts'
import { until } from '../support/processes.ts'
import { runProgram } from '../support/run-program.ts'

vi.setConfig({ testTimeout: 120_000 })

const cluster = await FakeCluster.start()
afterAll(() => cluster.stop())

const KEY = 'k'.repeat(32)
const ENV = {
  MCP_BRIDGE_RUNTIME: 'kubernetes',
  MCP_BRIDGE_SESSION: 'durable',
  MCP_BRIDGE_KUBERNETES_NETWORK: 'unchecked',
  MCP_BRIDGE_HANDLE_KEY: KEY,
  MCP_BRIDGE_HTTP_TOKEN: 'a-token-of-all-replicas',
  KUBECONFIG: cluster.kubeconfig,
}

beforeEach(async (ctx) => {
  // What the pods of the fake cluster run in.
  await providerOrSkip('bubblewrap', ctx)
})

/** Replicas with a server whose effects are lines of a file. */
async function startReplicas(count: number) {
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-ledger-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const ledger = path.join(folder, 'lines')
  const servers = { ledger: { ...fixtureServer('ledger.mjs'), env: { LEDGER: ledger } } }
  const bridges = await Promise.all(Array.from({ length: count }, () => startHttpBridge({ servers, env: ENV })))
  const clients = await Promise.all(bridges.map((bridge) => bridge.connect('modern')))
  const lines = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [])
  return { bridges, clients, ledger, lines }
}

/** Once it has noted that the client has the results so far: it does that right behind sending them. */
async function kill({ child }: HttpBridge, client?: HttpClient): Promise<void> {
  await client?.client.listTools()
  await sleep(200)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGKILL')
  await ended
}

function handleIn(text: string): string {
  const [, handle] = /session="([\w-]+)"/.exec(text) ?? []
  if (handle === undefined) throw new Error(`no handle in: ${text}`)
  return handle
}

it('a session goes from one replica to the other and back, each waits for the cell of the other, and outlives a killed one', async () => {
  const { bridges, clients, lines } = await startReplicas(2)
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
  // A reset leads to another pod, and the result has the handle for that.
  await a!.run('runtime.reset()', { session })
  const next = await a!.run("'x' in globals()", { session })
  expect(next).toMatch(/^False/)
  expect(handleIn(next)).not.toBe(session)
})

it('a cell goes on when its replica is killed, another replica has its result, and no call is made twice', async () => {
  const { bridges, clients, ledger, lines } = await startReplicas(2)
  const [a, b] = clients
  writeFileSync(`${ledger}.silent`, '')
  const session = handleIn(await a!.run('import asyncio'))
  const cell = `
first = asyncio.ensure_future(mcp_ledger.add_line(text='first'))
await asyncio.sleep(2)
print('printed alone')
second = asyncio.ensure_future(mcp_ledger.add_line(text='second'))
answers = await asyncio.gather(first, second, return_exceptions=True)
[getattr(answer, 'code', answer) for answer in answers]`
  const answer = a!.run(cell, { session }).catch(() => 'no answer')
  await until(() => lines().includes('first'))
  await kill(bridges[0]!)
  expect(await answer).toBe('no answer')
  rmSync(`${ledger}.silent`)
  const text = await b!.run('"next"', { session })
  expect(text).toMatch(/^'next'\n\[Cell 2, which ran when the bridge ended, has finished/)
  expect(text).toContain('printed alone')
  expect(text).toContain("['CALL_INTERRUPTED', 'added second']")
  expect(lines()).toEqual(['first', 'second'])
  expect(await b!.run('len(answers)', { session })).toBe('2')
})

it('a cell in a pod does not notice that the API server is gone for a moment, and neither output nor calls are lost or come twice', async () => {
  const { clients, lines } = await startReplicas(1)
  const [client] = clients
  const session = handleIn(await client!.run('import asyncio'))
  const running = client!.run(
    `
for number in range(40):
    print('line', number)
    await mcp_ledger.add_line(text=str(number))
    await asyncio.sleep(0.05)
'over'`,
    { session },
  )
  await until(() => lines().length > 5)
  await cluster.goAway()
  await sleep(700)
  await cluster.listen()
  const all = Array.from({ length: 40 }, (_, number) => number)
  expect(await running).toBe(`${all.map((number) => `line ${number}`).join('\n')}\n'over'`)
  expect(lines()).toEqual(all.map(String))
})

it('a session handle of another user, or one that was forged, is an unknown session at every replica', async () => {
  const { bridges, clients } = await startReplicas(2)
  const [a, b] = clients
  const session = handleIn(await a!.run('secret = 7'))
  const tokens = await Promise.all(bridges.map((bridge) => tokenFor(bridge, 'bob')))
  const unknown = 'Unknown or expired session'
  for (const [index, bridge] of bridges.entries()) {
    const bob = await bridge.connect('modern', { token: tokens[index]! })
    expect(await bob.run('secret', { session })).toContain(unknown)
    const forged = Buffer.from(session, 'base64url')
    forged[20]! ^= 1
    expect(await clients[index]!.run('secret', { session: forged.toString('base64url') })).toContain(unknown)
  }
  expect(await b!.run('secret', { session })).toBe('7')
  // A pod that is gone is no session either, and no new one.
  for (const { metadata } of cluster.pods.list()) cluster.delete(metadata.name, 0)
  await kill(bridges[1]!)
  const third = await startHttpBridge({ env: ENV })
  expect(await (await third.connect('modern')).run('secret', { session })).toContain(unknown)
})

it('an older client is told that the replica of its conversation is lost, and has its variables back once it initializes again', async () => {
  // Replicas run in the same folder of their image.
  const home = makeHome()
  const [a, b] = await Promise.all([startHttpBridge({ home, env: ENV }), startHttpBridge({ home, env: ENV })])
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
  // Until it is certain that the replica is gone, nobody gets what it has.
  await sleep(7_000)
  expect(await (await b.connect('legacy')).run('x')).toBe('5')
})

it('a bridge over HTTP does not start with durable sessions in Kubernetes and no key of handles', async () => {
  const home = makeHome()
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const env = bridgeEnv(home, { ...ENV, MCP_BRIDGE_HANDLE_KEY: '' })
  const { code, stderr } = await runProgram(process.execPath, [CLI, 'run', '--http', '0'], env)
  expect(code).not.toBe(0)
  expect(stderr).toContain('needs MCP_BRIDGE_HANDLE_KEY')
})
