// What a tool call costs from Python, as a multiple of what the same call costs a bare MCP client, on the same machine in the same minute.
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { published, type TestBridge } from '../test/support/bridge-process.ts'
import { median, timed } from './measure.ts'

/** Calls before the measured ones, on both sides alike: V8 compiles what runs often, and is done with most of it by then. */
const WARM_UP = 1_500
const ROUNDS = 7
const ONE_BY_ONE = 200
const AT_ONCE = 500

export interface CallRatios {
  oneByOne: number
  atOnce: number
}

/** @param bridge one with the published server "everything" behind it: its tool does nothing, so that all that is measured is the way there. */
export async function callRatios(bridge: TestBridge): Promise<CallRatios> {
  const bare = new Client({ name: 'bare', version: '1' })
  await bare.connect(new StdioClientTransport({ ...published.everything(), stderr: 'ignore' }))
  const echo = () => bare.callTool({ name: 'echo', arguments: { message: 'x' } })
  const echoes = async (count: number) => {
    for (let index = 0; index < count; index += 1) await echo()
  }

  await bridge.run(`import asyncio, time\nfor _ in range(${WARM_UP}): await mcp_everything.echo(message="x")`)
  await echoes(WARM_UP)
  const oneByOne: number[] = []
  const atOnce: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const bareOnes = await timed(() => echoes(ONE_BY_ONE))
    const ones = await inPython(bridge, `for _ in range(${ONE_BY_ONE}): await mcp_everything.echo(message="x")`)
    oneByOne.push(ones / bareOnes)
    const bareMany = await timed(() => Promise.all(Array.from({ length: AT_ONCE }, echo)))
    const many = `await asyncio.gather(*(mcp_everything.echo(message="x") for _ in range(${AT_ONCE})))`
    atOnce.push((await inPython(bridge, many)) / bareMany)
  }
  await bare.close()
  return { oneByOne: median(oneByOne), atOnce: median(atOnce) }
}

/** Milliseconds that the body takes, by the sandbox's own clock. */
async function inPython(bridge: TestBridge, body: string): Promise<number> {
  return Number(await bridge.run(`_t = time.perf_counter()\n${body}\nprint((time.perf_counter() - _t) * 1000)`))
}
