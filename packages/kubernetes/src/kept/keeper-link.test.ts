// This file verifies the link with a real first process whose stdin and stdout several bridges may attach to: mixed,
// lost and late lines do no harm, and a sandbox follows one bridge at a time.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { loadNativeKernel } from '@sandbridge/native/native-kernel.ts'
import { askKeeper, type Connection, NotAdmitted, KeeperLink } from './keeper-link.ts'
import { encodeLine } from './sent-lines.ts'
import { needsPython } from '@sandbridge/core/test/support/sandboxes/plain-python.ts'

/**
 * A sandbox without isolation or memory limit, and ways to attach to it. Its output while no bridge is attached is
 * lost.
 */
async function startSandbox() {
  needsPython()
  const kernel = loadNativeKernel()
  const words = { id: 'test', memoryBytes: 2 ** 40, pidsCount: 100_000, compiled: undefined, kept: 1 as const }
  const { args, preamble } = kernel.start({ ...words, inputSeconds: 60 })
  const child: ChildProcessWithoutNullStreams = spawn('python3', args, { detached: true })
  child.stdin.on('error', () => {})
  child.stderr.resume()
  onTestFinished(() => {
    process.kill(-child.pid!, 'SIGKILL')
  })
  const attached = new Set<PassThrough>()
  child.stdout.on('data', (chunk: Buffer) => attached.forEach((stdout) => stdout.write(chunk)))
  const attach = (spoil = (chunk: Buffer) => chunk): Connection & { cut: () => void } => {
    const stdout = new PassThrough()
    attached.add(stdout)
    let end!: (reason: string) => void
    const ended = new Promise<string>((resolve) => (end = resolve))
    const close = (): void => {
      attached.delete(stdout)
      end('it was cut')
    }
    const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
      child.stdin.write(spoil(chunk))
      done()
    }
    return { stdin: new Writable({ write }), stdout, ended, close, cut: close }
  }
  return { child, preamble, attach, raw: (text: string | Buffer) => child.stdin.write(text) }
}

const cell = (number: number, code: string): string[] => [
  `cell ${number} ${Date.now() + 60_000} ${'0'.repeat(64)}`,
  JSON.stringify({ type: 'run', cell: number, code, servers: [] }),
]

function textOf(link: KeeperLink): () => string {
  let text = ''
  link.frames.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return () => text
}

it('a sandbox that bridges attach to loses nothing when lines are mixed, repeated, or lost with a connection', async () => {
  const { preamble, attach, raw } = await startSandbox()
  let spoils = 0
  const connections: ReturnType<typeof attach>[] = []
  const connect = () => {
    const connection = attach((chunk) => {
      if (spoils === 0 || chunk.length < 10) return chunk
      spoils -= 1
      const mixed = Buffer.from(chunk)
      mixed[mixed.length >> 1]! ^= 0x20
      return mixed
    })
    connections.push(connection)
    return connection
  }
  const options = { generation: 1, helloMs: 30_000, reconnect: () => Promise.resolve(connect()) }
  const { link } = await KeeperLink.open({ ...options, connection: connect(), preamble })
  const text = textOf(link)
  link.send('keep 60')
  link.send('resume')
  await link.flushed()
  // Half a line of another bridge, and a line from before.
  raw('7 7 7 half of')
  raw(`\n${encodeLine(1, 1, 'end').toString()}`)
  spoils = 2
  for (const line of cell(1, 'runs = globals().get("runs", 0) + 1\nfor n in range(2000): print("line", n)\nruns'))
    link.send(line)
  // The next line reveals the gap.
  await until(() => (link.send('beat'), /line 500\b/.test(text())))
  connections.at(-1)!.cut()
  await until(() => /"type":"done"/.test(text()))
  const frames = text()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; text?: string })
  const printed = frames.map((frame) => (frame.type === 'output' ? frame.text : '')).join('')
  expect(printed).toBe(Array.from({ length: 2000 }, (_, number) => `line ${number}\n`).join(''))
  expect(connections).toHaveLength(2)
  expect([...text().matchAll(/"type":"done"/g)]).toHaveLength(1)
  expect(text()).toContain('"text/plain":"1"')
  link.close()
})

it('a sandbox that bridges attach to is not taken from one that runs a cell, and drops what one says that it does not follow', async () => {
  const { preamble, attach } = await startSandbox()
  const first = attach()
  const { link } = await KeeperLink.open({
    connection: first,
    generation: 1,
    preamble,
    helloMs: 30_000,
    reconnect: () => Promise.reject(new Error('no')),
  })
  const text = textOf(link)
  for (const line of ['keep 60', 'resume', ...cell(1, 'import time\nprint("begun")\ntime.sleep(1)\nx = 1')])
    link.send(line)
  await until(() => text().includes('begun'))
  expect(await askKeeper(attach(), 5_000)).toMatchObject({ isThere: true, isBusy: true, generation: 1 })
  const second = () => KeeperLink.open({ connection: attach(), generation: 2, helloMs: 5_000 })
  await expect(second()).rejects.toThrow(NotAdmitted)
  await until(() => text().includes('"done"'))
  link.send('release 1000')
  await link.flushed()
  const taken = await second()
  expect(taken.hello).toMatchObject({ generation: 2, number: 1, isPending: false })
  expect((await link.ended).how).toBe('taken')
  const others = textOf(taken.link)
  taken.link.send('resume')
  // The first bridge has not noticed, and two bridges have generation 2.
  first.stdin.write(encodeLine(1, 99, 'end'))
  first.stdin.write(encodeLine(1, 0, 'attach 9 0'))
  for (const line of cell(2, 'print("still", x)')) taken.link.send(line)
  await until(() => others().includes('still 1'))
  await expect(KeeperLink.open({ connection: attach(), generation: 1, helloMs: 5_000 })).rejects.toThrow(NotAdmitted)
  taken.link.close()
})

it('a call that a bridge may have made at once is not sent to the next bridge, and one that it had to acknowledge first is', async () => {
  const { preamble, attach, raw } = await startSandbox()
  let heard = ''
  attach().stdout.on('data', (chunk: Buffer) => (heard += chunk.toString()))
  raw(Buffer.concat([preamble, Buffer.from('\n')]))
  raw(encodeLine(1, 0, 'attach 1 0'))
  const goOn = path.join(tmpdir(), `sandbridge-go-on-${process.pid}-${Date.now()}`)
  onTestFinished(() => rmSync(goOn, { force: true }))
  const code = `
import asyncio, os
from mcp import runtime
calls = [asyncio.ensure_future(runtime.call_tool('host', 'sooner', {}))]
while not os.path.exists(${JSON.stringify(goOn)}): await asyncio.sleep(0.05)
calls.append(asyncio.ensure_future(runtime.call_tool('host', 'later', {})))
answers = await asyncio.gather(*calls, return_exceptions=True)`
  let lines = 0
  const send = (line: string) => raw(encodeLine(1, (lines += 1), line))
  for (const line of ['keep 60', 'resume', ...cell(1, code)]) send(line)
  const sooner = /^\d+! .*"type":"call","id":(\d+).*"sooner"/gm
  await until(() => (send('beat'), sooner.test(heard)))
  // The same bridge, which has received nothing yet, gets it again.
  raw(encodeLine(1, 0, 'attach 2 0'))
  await until(() => heard.match(sooner)?.length === 2)
  // A bridge that has been silent for so long is not trusted to be there.
  await sleep(1_000)
  writeFileSync(goOn, '')
  await until(() => /^\d+ .*"type":"call".*"later"/m.test(heard))
  send('leave')
  const { link, hello } = await KeeperLink.open({ connection: attach(), generation: 2, helloMs: 5_000 })
  const text = textOf(link)
  sooner.lastIndex = 0
  expect(hello.openCalls).toEqual([Number(sooner.exec(heard)?.[1])])
  link.send('resume')
  await until(() => text().includes('"later"'))
  expect(text()).not.toContain('"sooner"')
  link.close()
})
