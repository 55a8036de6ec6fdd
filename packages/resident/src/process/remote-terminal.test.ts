import { createServer, connect, type Socket } from 'node:net'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { RemoteTerminal } from './remote-terminal.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const CONTEXT = { env: {}, cwd: '/', home: '/', ownPaths: [] }
const PIPES = { words: [], stdin: { isTTY: false }, stdout: { isTTY: false }, stderr: { isTTY: false } }

beforeEach(() => needsPosix('Windows has no Unix sockets'))

/** A terminal, and what the process in which its command was typed hears. */
async function remote(): Promise<{ remote: RemoteTerminal; heard: () => string; socket: Socket }> {
  const folder = newFolder()
  const accepted = new Promise<Socket>((resolve) => {
    const server = createServer(resolve).listen(path.join(folder, 's'))
    onTestFinished(() => void server.close(() => rmSync(folder, { recursive: true })))
  })
  const client = connect(path.join(folder, 's'))
  let said = ''
  client.on('data', (chunk) => (said += chunk.toString()))
  const socket = await accepted
  onTestFinished(() => [client, socket].forEach((one) => one.destroy()))
  return { remote: new RemoteTerminal(socket, CONTEXT, PIPES, undefined), heard: () => said, socket }
}

it('what is typed reaches the command up to its end, and what follows ends nothing', async () => {
  const { remote: one } = await remote()
  const read = text(one.terminal.stdin)
  one.told({ typed: Buffer.from('a line').toString('base64') })
  one.told({ typed: null })
  one.told({ typed: 'eA==' })
  one.told({ typed: null })
  expect(await read).toBe('a line')
})

it('input that the command does not read is bounded', async () => {
  const { remote: one, socket } = await remote()
  const typed = Buffer.alloc(2 ** 20).toString('base64')
  for (let count = 0; count < 16; count += 1) one.told({ typed })
  expect(socket.destroyed).toBe(false)
  for (let count = 0; count < 32; count += 1) one.told({ typed })
  expect(socket.destroyed).toBe(true)
})

it('a command whose process has gone ends, also when it was only getting ready', async () => {
  const { remote: one } = await remote()
  const ended: string[] = []
  const end = (name: string) => async (): Promise<void> => void ended.push(name)
  one.terminal.onEnd(end('ready'))
  await one.gone()
  one.terminal.onEnd(end('getting ready'))
  expect(ended).toEqual(['ready', 'getting ready'])
})

it('a signal ends what wants to be ended by it, and Ctrl-C only interrupts where that is wanted', async () => {
  const { remote: one, heard } = await remote()
  const did: string[] = []
  one.terminal.onInterrupt(() => did.push('interrupted'))
  one.terminal.onEnd(async () => void did.push('ended'), ['SIGTERM'])
  one.told({ signal: 'SIGINT' })
  expect(did).toEqual(['interrupted'])
  one.told({ signal: 'SIGTERM' })
  while (!heard().includes('exit')) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(did).toEqual(['interrupted', 'ended'])
  expect(heard()).toContain('{"exit":143}')
})
