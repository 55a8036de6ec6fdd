// Over Unix sockets: the proof itself knows nothing of pipes.
import { createHmac, randomBytes } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { PROOF_BYTES, proveAsRelay, proveAsResident } from './proof.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const SECRET = randomBytes(32)
const OTHER = randomBytes(32)
const SAID = 'the environment\n'

/** What one side of a connection has seen. */
class Side {
  readonly socket: Socket
  isProved = false
  /** What came before a proof, as a foreign program sees it, or after it. */
  heard = Buffer.alloc(0)
  readonly closed: Promise<unknown>

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => socket.once('close', resolve))
  }

  listen(): void {
    this.socket.on('data', (chunk: Buffer) => (this.heard = Buffer.concat([this.heard, chunk])))
  }

  /** As relay and resident use it: what it says first is a secret. */
  prove(prove: typeof proveAsRelay, secret = SECRET): this {
    prove(this.socket, secret, () => {
      this.isProved = true
      this.listen()
      this.socket.write(SAID)
    })
    return this
  }

  /** A foreign program. */
  foreign(): this {
    this.listen()
    return this
  }

  async hears(bytes: number): Promise<Buffer> {
    await vi.waitUntil(() => this.heard.length >= bytes, 10_000)
    return this.heard
  }
}

async function connected(): Promise<{ relay: Side; resident: Side }> {
  needsPosix('Windows has no Unix sockets')
  const folder = newFolder()
  const server = createServer({ allowHalfOpen: true })
  await new Promise<void>((resolve) => server.listen(path.join(folder, 's'), resolve))
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const socket = connect(path.join(folder, 's'))
  await new Promise((resolve) => socket.once('connect', resolve))
  const other = await accepted
  onTestFinished(() => {
    socket.destroy()
    other.destroy()
    server.close()
  })
  return { relay: new Side(socket), resident: new Side(other) }
}

it('lets both sides speak when they know the same secret', async () => {
  const { relay, resident } = await connected()
  resident.prove(proveAsResident)
  relay.prove(proveAsRelay)
  expect(String(await relay.hears(SAID.length))).toBe(SAID)
  expect(String(await resident.hears(SAID.length))).toBe(SAID)
  relay.socket.write('more')
  expect(String(await resident.hears(SAID.length + 4))).toBe(`${SAID}more`)
})

it('takes a proof that arrives byte by byte, with what follows it', async () => {
  const { relay, resident } = await connected()
  resident.prove(proveAsResident)
  const peer = relay.foreign()
  const nonce = randomBytes(PROOF_BYTES)
  for (const byte of nonce) {
    peer.socket.write(Buffer.of(byte))
    await new Promise((resolve) => setImmediate(resolve))
  }
  const answer = await peer.hears(2 * PROOF_BYTES)
  const own = createHmac('sha256', SECRET).update('sandbridge relay\0')
  const proof = own.update(nonce).update(answer.subarray(0, PROOF_BYTES)).digest()
  peer.socket.write(Buffer.concat([proof, Buffer.from('hello')]))
  expect(String(await resident.hears(5))).toBe('hello')
})

// Each test also shows that an honest other side would have been let in: see the first one.
describe('a relay that another program answers', () => {
  it('tells it nothing but a nonce when it has another secret', async () => {
    const { relay, resident } = await connected()
    resident.prove(proveAsResident, OTHER)
    relay.prove(proveAsRelay)
    await relay.closed
    expect([relay.isProved, resident.isProved]).toEqual([false, false])
  })

  it.each([
    ['garbage', () => randomBytes(2 * PROOF_BYTES)],
    ['too many bytes', () => Buffer.alloc(2 ** 22, 'a')],
    ['its own nonce', (nonce: Buffer) => Buffer.concat([nonce, nonce])],
    [
      'the proof of a relay',
      (nonce: Buffer) => {
        const own = Buffer.alloc(PROOF_BYTES)
        const of = createHmac('sha256', SECRET).update('sandbridge relay\0')
        return Buffer.concat([own, of.update(nonce).update(own).digest()])
      },
    ],
  ])('tells it nothing but a nonce when it answers %s', async (_, answer) => {
    const { relay, resident } = await connected()
    const squatter = resident.foreign()
    relay.prove(proveAsRelay)
    squatter.socket.write(answer(await squatter.hears(PROOF_BYTES)))
    await relay.closed
    expect(relay.isProved).toBe(false)
    expect(squatter.heard).toHaveLength(PROOF_BYTES)
  })

  it('accepts the answer that the last test forges, when its role is right', async () => {
    const { relay, resident } = await connected()
    const peer = resident.foreign()
    relay.prove(proveAsRelay)
    const nonce = await peer.hears(PROOF_BYTES)
    const own = Buffer.alloc(PROOF_BYTES)
    const of = createHmac('sha256', SECRET).update('sandbridge resident\0')
    peer.socket.write(Buffer.concat([own, of.update(nonce).update(own).digest()]))
    expect(String((await peer.hears(2 * PROOF_BYTES + SAID.length)).subarray(2 * PROOF_BYTES))).toBe(SAID)
  })

  it('does not accept a recorded answer', async () => {
    const recorded = await record()
    const { relay, resident } = await connected()
    const squatter = resident.foreign()
    relay.prove(proveAsRelay)
    await squatter.hears(PROOF_BYTES)
    squatter.socket.write(recorded.answer)
    await relay.closed
    expect(relay.isProved).toBe(false)
    expect(squatter.heard).toHaveLength(PROOF_BYTES)
  })
})

describe('a resident to which another program connects', () => {
  it('tells it nothing of use when it has another secret', async () => {
    const { relay, resident } = await connected()
    resident.prove(proveAsResident)
    const thief = relay.foreign()
    thief.socket.write(randomBytes(PROOF_BYTES))
    await thief.hears(2 * PROOF_BYTES)
    thief.socket.write(randomBytes(PROOF_BYTES))
    await resident.closed
    expect(resident.isProved).toBe(false)
    expect(thief.heard).toHaveLength(2 * PROOF_BYTES)
  })

  it('does not accept its own proof', async () => {
    const { relay, resident } = await connected()
    resident.prove(proveAsResident)
    const thief = relay.foreign()
    thief.socket.write(randomBytes(PROOF_BYTES))
    thief.socket.write((await thief.hears(2 * PROOF_BYTES)).subarray(PROOF_BYTES))
    await resident.closed
    expect(resident.isProved).toBe(false)
  })

  it('does not accept what an honest relay said before', async () => {
    const recorded = await record()
    const { relay, resident } = await connected()
    resident.prove(proveAsResident)
    const thief = relay.foreign()
    thief.socket.write(recorded.nonce)
    await thief.hears(2 * PROOF_BYTES)
    thief.socket.write(Buffer.concat([recorded.proof, Buffer.from('hello')]))
    await resident.closed
    expect(resident.isProved).toBe(false)
    expect(thief.heard).toHaveLength(2 * PROOF_BYTES)
  })

  it.each([
    ['a nonce and more', 'a'.repeat(PROOF_BYTES + 1)],
    ['far too many bytes', 'a'.repeat(2 ** 22)],
  ])('answers nothing to %s', async (_, said) => {
    const { relay, resident } = await connected()
    resident.prove(proveAsResident)
    const thief = relay.foreign()
    thief.socket.write(said)
    await resident.closed
    expect(resident.isProved).toBe(false)
    expect(thief.heard).toHaveLength(0)
  })

  it('does not wait for the rest of one that has left', async () => {
    const { relay, resident } = await connected()
    resident.prove(proveAsResident)
    relay.socket.end('half')
    await resident.closed
    expect(resident.isProved).toBe(false)
  })
})

it.each([
  ['a relay', (one: { relay: Side; resident: Side }) => one.relay.prove(proveAsRelay)],
  ['a resident', (one: { relay: Side; resident: Side }) => one.resident.prove(proveAsResident)],
])('ends the connection of %s when the other side says nothing', async (_, begin) => {
  const sides = await connected()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const side = begin(sides)
  vi.advanceTimersByTime(4_900)
  expect(side.socket.destroyed).toBe(false)
  vi.advanceTimersByTime(200)
  expect(side.socket.destroyed).toBe(true)
  expect(side.isProved).toBe(false)
})

/** What an onlooker has of a proof between two honest sides. */
async function record(): Promise<{ nonce: Buffer; answer: Buffer; proof: Buffer }> {
  const [a, b] = [await connected(), await connected()]
  // Stands between both, and changes nothing.
  const [toRelay, toResident] = [a.resident.foreign(), b.relay.foreign()]
  toRelay.socket.pipe(toResident.socket)
  toResident.socket.pipe(toRelay.socket)
  b.resident.prove(proveAsResident)
  a.relay.prove(proveAsRelay)
  expect(String(await b.resident.hears(SAID.length))).toBe(SAID)
  const [fromRelay, fromResident] = [toRelay.heard, toResident.heard]
  return {
    nonce: fromRelay.subarray(0, PROOF_BYTES),
    answer: fromResident.subarray(0, 2 * PROOF_BYTES),
    proof: fromRelay.subarray(PROOF_BYTES, 2 * PROOF_BYTES),
  }
}
