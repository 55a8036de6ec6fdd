// Rows of the client side: what a first call costs, many servers at once, a server that keeps dying. The servers are small programs of test/fixtures.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { ServerDefinition, StdioServer } from '../src/config/server-definition.ts'
import { createLog } from '../src/log.ts'
import { createUpstreams } from '../src/upstream/create-upstreams.ts'
import type { Upstreams } from '../src/upstream/upstream.ts'
import { raw, textOf } from '../test/upstream/definitions.ts'
import { median, ms, timed } from './measure.ts'
import type { BenchRow } from './row.ts'

const CLIENT_INFO = { name: 'bench', version: '1' }
const SERVERS = 50
const CALLS_EACH = 1_000
const CALLS_OF_DYING = 10_000
const DIES_EVERY = 100
const AT_ONCE = 4

const folder = mkdtempSync(path.join(tmpdir(), 'sb-bench-'))
const open = (definitions: ServerDefinition[]): Upstreams =>
  createUpstreams({
    definitions,
    clientInfo: CLIENT_INFO,
    log: createLog('error', () => {}),
    verdictsFile: path.join(folder, 'verdicts.json'),
  })

export async function upstreamRows(): Promise<BenchRow[]> {
  const rows = [await firstCallRow(), await manyRow(), await dyingRow()]
  rmSync(folder, { recursive: true, force: true })
  return rows
}

/** The first call to a server that is not running, above what a bare client takes to start the same one and call it. */
async function firstCallRow(): Promise<BenchRow> {
  const definition = raw('good')
  // How to speak to it is known, as it is for any server that was used before.
  const ours = async (): Promise<number> => {
    await upstreams.callTool('good', 'echo', { text: 'x' })
    await upstreams.close()
    upstreams = open([definition])
    return timed(() => upstreams.callTool('good', 'echo', { text: 'x' }))
  }
  let upstreams = open([definition])
  const above: number[] = []
  for (let round = 0; round < 9; round += 1) above.push((await ours()) - (await bare(definition)))
  await upstreams.close()
  const overhead = median(above)
  return {
    name: 'first call to a server that is not running, above a bare client’s start and call',
    value: ms(overhead),
    goal: `≤ ${ms(20)}`,
    ok: overhead <= 20,
  }
}

async function bare({ transport }: ServerDefinition): Promise<number> {
  const { command, args, env } = transport as StdioServer
  const client = new Client(CLIENT_INFO)
  const time = await timed(async () => {
    await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }))
    await client.callTool({ name: 'echo', arguments: { text: 'x' } })
  })
  await client.close()
  return time
}

async function manyRow(): Promise<BenchRow> {
  const names = Array.from({ length: SERVERS }, (_, index) => `server-${index}`)
  const upstreams = open(names.map((name) => ({ ...raw('good'), name })))
  let right = 0
  const callAll = async (server: string): Promise<void> => {
    for (let call = 0; call < CALLS_EACH; call += 1) {
      const text = `${server} ${call}`
      const result = await upstreams.callTool(server, 'echo', { text }).catch(() => undefined)
      if (result && textOf(result) === text) right += 1
    }
  }
  const time = await timed(() => Promise.all(names.map(callAll)))
  const memoryMb = process.memoryUsage().rss / 1e6
  await upstreams.close()
  const wanted = SERVERS * CALLS_EACH
  return {
    name: `${SERVERS} servers at once, ${CALLS_EACH} calls each`,
    value: `${wanted - right} failed, ${((right / time) * 1000).toFixed(0)} calls a second, ${memoryMb.toFixed(0)} MB`,
    goal: 'none failed',
    ok: right === wanted,
  }
}

/** Each call is made once, by several callers. A death may fail the calls that were in flight at that moment, and no other. */
async function dyingRow(): Promise<BenchRow> {
  const upstreams = open([raw('dies', String(DIES_EVERY))])
  let right = 0
  let inFlight = 0
  let lost = 0
  let unclear = 0
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < CALLS_OF_DYING) {
      const text = String(next++)
      inFlight += 1
      try {
        if (textOf(await upstreams.callTool('dies', 'echo', { text })) === text) right += 1
        else unclear += 1
      } catch (error) {
        lost += 1
        if ((error as { code?: string }).code !== 'UPSTREAM_UNREACHABLE') unclear += 1
      } finally {
        inFlight -= 1
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
  await upstreams.close()
  // Every process answers all calls before its last; with that one at most AT_ONCE - 1 others are in flight.
  const most = Math.ceil(CALLS_OF_DYING / DIES_EVERY) * AT_ONCE
  return {
    name: `${CALLS_OF_DYING} calls to a server that dies every ${DIES_EVERY} calls`,
    value: `${right} answered, ${lost} in flight failed, ${unclear} in another way`,
    goal: `at most ${most} failed, each once and clearly`,
    ok: right + lost === CALLS_OF_DYING && lost <= most && unclear === 0 && inFlight === 0,
  }
}
