import { spawn } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { expect, it, type MockInstance, onTestFinished, vi } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { SILENT } from '../../../core/src/util/log.ts'
import { askResident } from '../ask-resident.ts'
import { controlLine, readControl } from '../reach/protocol.ts'
import { makeRunFolder, residentPlace } from '../reach/run-folder.ts'
import { Resident } from './resident.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const HELLO = { hello: 1, key: 'the key', pid: 1, env: {}, cwd: '/', home: '/', ownPaths: [] } as const
const MAX_CLIENTS = 64

let residents = 0
let exit: MockInstance | undefined

/** A resident that serves nothing. */
async function startResident(idleMs = 600_000, state = newFolder(), receive = (_line: string): void => {}) {
  needsPosix('on Windows a resident listens on no file')
  const place = residentPlace(state, '0123456789abcdef0123')
  makeRunFolder(place)
  const close = vi.fn(() => Promise.resolve())
  // It would end this process.
  if (residents++ === 0) exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never)
  const resident = new Resident({
    idleMs,
    maxTimeoutMs: 1_000,
    key: { name: '0123456789abcdef0123', text: HELLO.key },
    place,
    log: SILENT,
    serve: () => ({ servers: () => [], receive, told: () => {}, end: () => Promise.resolve() }),
    refuses: ({ env }) =>
      Promise.resolve(env['CHANGED'] === undefined ? undefined : { reason: 'it is older', isOutdated: true }),
    openCells: () => 0,
    isWatched: () => false,
    close,
  })
  expect(await resident.start()).toBe(true)
  const ended = vi.waitFor(() => expect(close).toHaveBeenCalled(), { timeout: 60_000 })
  onTestFinished(async () => {
    await resident.end('the test has ended')
    await ended
    if (--residents === 0) exit?.mockRestore()
  })
  return { socket: place.socket, ended, close, state }
}

/** Connects, says this, and keeps the connection. @returns the first thing that it is told */
function say(socketPath: string, text: string): { told: Promise<Record<string, unknown>>; socket: Socket } {
  const socket = connect(socketPath)
  onTestFinished(() => void socket.destroy())
  const told = new Promise<Record<string, unknown>>((resolve) => {
    socket.on('error', () => resolve({}))
    socket.on('close', () => resolve({}))
    socket.once('data', (line) => resolve(readControl(line)))
  })
  if (text !== '') socket.write(text)
  return { told, socket }
}

it('begins what one client sends at once in turn with what others say', async () => {
  const received: string[] = []
  let other: Socket | undefined
  const { socket } = await startResident(undefined, undefined, (line) => {
    if (received.push(line) === 1) other!.write('"of the other"\n')
  })
  const clients = [say(socket, controlLine(HELLO)), say(socket, controlLine(HELLO))]
  for (const { told } of clients) expect(await told).toHaveProperty('welcome')
  other = clients[1]!.socket
  clients[0]!.socket.write(Array.from({ length: 1000 }, (_, at) => `${at}\n`).join(''))
  await vi.waitFor(() => expect(received).toHaveLength(1001))
  expect(received.indexOf('"of the other"')).toBeLessThan(100)
  expect(received.filter((line) => line.length < 5)).toEqual(Array.from({ length: 1000 }, (_, at) => String(at)))
})

it.each([
  ['welcomes the next message after one of ordinary cost: control', 10, true],
  ['ends the connection of a client whose message would keep others waiting', 200_000, false],
])('a resident %s', async (_, parts, goesOn) => {
  const received: string[] = []
  const { socket } = await startResident(undefined, undefined, (line) => void received.push(line))
  const client = say(socket, controlLine(HELLO))
  expect(await client.told).toHaveProperty('welcome')
  client.socket.write(`[${'1,'.repeat(parts)}1]\n"next"\n`)
  await vi.waitFor(() => expect(received.includes('"next"') || client.socket.destroyed).toBe(true))
  expect([received.includes('"next"'), client.socket.destroyed]).toEqual([goesOn, !goesOn])
})

it('refuses a client beyond its limit, and still tells its status and stops', async () => {
  const { socket, ended } = await startResident()
  const hello = controlLine({ ...HELLO, ownPaths: [] })
  const clients = Array.from({ length: MAX_CLIENTS }, () => say(socket, hello).told)
  for (const told of await Promise.all(clients)) expect(told).toHaveProperty('welcome')
  expect(await say(socket, hello).told).toEqual({ refused: 'it serves 64 clients' })
  const status = await askResident(socket, { status: true })
  expect(status).toMatchObject({ status: { clients: { length: MAX_CLIENTS } } })
  expect(await askResident(socket, { ping: true })).toEqual({ pong: true })
  expect(await askResident(socket, { stop: true })).toEqual({ pong: true })
  await ended
})

it('disconnects the connection that has said nothing for longest, when there are too many', async () => {
  const { socket } = await startResident()
  const silent = Array.from({ length: MAX_CLIENTS + 1 }, () => say(socket, ''))
  await silent[0]!.told
  const isOver = silent.map((one) => one.socket.destroyed)
  // Its hello still comes: one that is not the oldest has kept its place.
  silent[1]!.socket.write(controlLine({ ...HELLO, ownPaths: [] }))
  expect(await silent[1]!.told).toHaveProperty('welcome')
  expect(isOver.filter(Boolean)).toHaveLength(1)
})

/** A client that comes and goes. */
async function oneClient(socketPath: string): Promise<void> {
  const { told, socket } = say(socketPath, controlLine({ ...HELLO, ownPaths: [] }))
  expect(await told).toHaveProperty('welcome')
  socket.destroy()
}

it('ends some time after its last client', async () => {
  const { socket, ended, close } = await startResident(20)
  await oneClient(socket)
  await ended
  expect(close).toHaveBeenCalled()
})

it('stays without clients when it was told so', async () => {
  const { socket, close } = await startResident(20)
  expect(await askResident(socket, { keep: true })).toEqual({ pong: true })
  await oneClient(socket)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(close).not.toHaveBeenCalled()
  expect(await askResident(socket, { ping: true })).toEqual({ pong: true })
})

it('makes way for the next one once its settings have changed, as soon as it has no client', async () => {
  const { socket, ended, state, close } = await startResident(20)
  const [hello, changed] = [HELLO, { ...HELLO, env: { CHANGED: '1' } }].map((one) =>
    controlLine({ ...one, ownPaths: [] }),
  )
  const ann = say(socket, hello!)
  expect(await ann.told).toHaveProperty('welcome')
  expect(await askResident(socket, { keep: true })).toEqual({ pong: true })
  // Its clients keep their sessions.
  expect(await say(socket, changed!).told).toEqual({ refused: 'it is older' })
  ann.socket.destroy()
  await vi.waitFor(async () => {
    const status = await askResident(socket, { status: true })
    expect(status).toMatchObject({ status: { clients: [] } })
  })
  const command = controlLine({ ...HELLO, env: { CHANGED: '1' }, ownPaths: [], isCommand: true })
  expect(await say(socket, command).told).toEqual({ refused: 'it is older' })
  expect(close).not.toHaveBeenCalled()
  // Its relay connects again, and starts another one.
  expect(await say(socket, changed!).told).toEqual({})
  await ended
  const next = await startResident(20, state)
  await oneClient(next.socket)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(next.close).not.toHaveBeenCalled()
})

it('hears others between the messages of a client that sends very many at once', async () => {
  let [inTurn, most, all] = [0, 0, 0]
  const { socket } = await startResident(undefined, undefined, () => {
    const until = performance.now() + 0.02
    while (performance.now() < until);
    if (inTurn === 0) setImmediate(() => (inTurn = 0))
    most = Math.max(most, (inTurn += 1))
    all += 1
  })
  const flood = `
    const socket = require('node:net').connect(process.argv[1])
    socket.write(process.argv[2])
    socket.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\\n'.repeat(50_000))`
  const client = spawn(process.execPath, ['-e', flood, socket, controlLine({ ...HELLO, ownPaths: [] })])
  onTestFinished(() => void client.kill())
  await vi.waitFor(() => expect(all).toBe(50_000), { timeout: 50_000 })
  expect(most).toBeLessThan(5_000)
})
