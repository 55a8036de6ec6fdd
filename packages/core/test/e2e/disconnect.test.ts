// @module-tag whole: it waits for clients that are gone
// This file verifies that the bridge leaves nothing behind, however its client disconnects.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '../support/bridges/bridge-process.ts'
import { needsLinux } from '../support/suite/needs.ts'

/** A process and all its descendants, as pid and start time: a pid alone may be reused. Linux only. */
function processTree(pid: number): string[] {
  if (!existsSync(`/proc/${pid}/task`)) return []
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [identify(pid), ...children.flatMap(processTree)].filter((id) => id !== undefined)
}

function identify(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? undefined : `${pid}@${fields[18]}`
  } catch {
    return undefined
  }
}

const alive = (ids: string[]) => ids.filter((id) => identify(Number(id.split('@')[0])) === id)

/** Empty for a process that has just ended. */
function commandOf(id: string): string {
  try {
    return readFileSync(`/proc/${id.split('@')[0]}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Writes the MCP messages by hand, so that the client can vanish at any moment. */
async function startWithBusyCell(): Promise<{ child: ChildProcess; tree: string[] }> {
  const home = makeHome({
    good: fixtureServer('raw.mjs', 'good'),
    stubborn: fixtureServer('raw.mjs', 'ignores-signals'),
  })
  const child = spawn(process.execPath, [CLI], { env: bridgeEnv(home), stdio: ['pipe', 'pipe', 'ignore'] })
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const clientInfo = { name: 'raw', version: '1' }
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } })
  send({ method: 'notifications/initialized' })
  const callPython = (id: number, code: string) =>
    send({ id, method: 'tools/call', params: { name: 'run_python', arguments: { code } } })
  callPython(2, 'await mcp_good.echo(text="x"), await mcp_stubborn.echo(text="x")')
  while (!output.includes('"id":2')) await sleep(20)
  callPython(3, 'while True: pass')
  await sleep(300)
  return { child, tree: processTree(child.pid!) }
}

describe('a bridge with a busy cell and two upstreams, one of which ignores SIGTERM', () => {
  beforeEach(() => {
    needsLinux('process trees are read from /proc')
  })

  it.each([
    ['its stdin is closed', (child: ChildProcess) => child.stdin!.end()],
    ['it gets SIGTERM', (child: ChildProcess) => child.kill('SIGTERM')],
    ['it gets SIGINT', (child: ChildProcess) => child.kill('SIGINT')],
    [
      'its client dies',
      (child: ChildProcess) => {
        child.stdin!.destroy()
        child.stdout!.destroy()
      },
    ],
  ])('a bridge with a busy cell ends within 3 s, with every child, when %s', async (_, leave) => {
    const { child, tree } = await startWithBusyCell()
    expect(tree.length).toBeGreaterThanOrEqual(4)
    leave(child)
    for (let waited = 0; waited < 3_000 && alive(tree).length > 0; waited += 50) await sleep(50)
    expect(alive(tree)).toEqual([])
  })

  it('a bridge with a busy cell leaves no sandbox behind when it is killed', async () => {
    const { child, tree } = await startWithBusyCell()
    child.kill('SIGKILL')
    // Only an upstream that ignores everything, including the end of its stdin, can survive a dead bridge.
    const left = () =>
      alive(tree)
        .map((id) => commandOf(id))
        .filter((command) => command !== '' && !command.includes('ignores-signals'))
    for (let waited = 0; waited < 10_000 && left().length > 0; waited += 100) await sleep(100)
    expect(left()).toEqual([])
    for (const id of alive(tree)) process.kill(Number(id.split('@')[0]), 'SIGKILL')
  })
})
