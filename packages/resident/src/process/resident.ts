// The resident: one bridge for all clients of its user that share its key. It takes its name, serves each relay that
// says hello, and ends some time after the last one has gone.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { FairTurns } from '@sandbridge/shared/fair-turns.ts'
import { letOthers } from '@sandbridge/core/util/async'
import { lineCost, MAX_MESSAGE_STRUCTURE } from '@sandbridge/core/util/json'
import { createLineSplitter } from '@sandbridge/core/util/bytes'
import { MAX_PAUSE_MS } from '@sandbridge/core/cell'
import { MAX_LINE_BYTES } from '@sandbridge/core/serve'
import { type Log, VERSION } from '@sandbridge/core/util'
import {
  controlLine,
  type FromResident,
  type Hello,
  helloOf,
  isControl,
  readControl,
  type ResidentStatus,
  type ServerSharing,
} from '../reach/protocol.ts'
import { publish, removeKilled } from './publish.ts'
import { endLeftGroups, recordGroups } from './left-groups.ts'
import type { ResidentKey } from '../resident-key.ts'
import { displace, holderOf, type ResidentPlace } from '../reach/run-folder.ts'
import { leavesUnread } from './socket-transport.ts'

const MAX_CLIENTS = 64
/** Connections that have said nothing yet. */
const MAX_SILENT = 64
/** With those that have not said hello, or are refused. Each holds a file of this process open. */
const MAX_CONNECTIONS = 4 * MAX_CLIENTS
/** Environments are larger than any other hello. */
const MAX_HELLO_BYTES = 2 ** 20
const HELLO_MS = 5_000
/** A relay that started this resident connects within this time. */
const FIRST_CLIENT_MS = 15_000
const WATCH_MS = 1_000
/** How long a resident that stays without clients holds sandboxes and servers ready for the next. */
const KEPT_READY_MS = 3_600_000
const POLL_MS = 50

/** One client, as long as it is connected. */
export interface ServedClient {
  /** How it uses its servers. */
  servers(): ServerSharing[]
  receive(line: string): void
  /** Another line of a command. */
  told(said: Record<string, unknown>): void
  /**
   * From now on begins no call of the client. Missing for a command, which ends with the resident.
   * @returns how many of its calls and cells are open, and how many results of its tasks it has not fetched
   */
  drain?(): number
  /** The client has disconnected. Resolves when everything of it has ended. */
  end(): Promise<void>
}

interface ResidentOptions {
  /** How long it waits for the next client after the last one. */
  idleMs: number
  /** How long a cell may run. */
  maxTimeoutMs: number
  /** Of its relays. It may run from a copy of the package, and its own would be another. */
  key: Pick<ResidentKey, 'name' | 'text'>
  place: ResidentPlace
  log: Log
  /**
   * Begins to serve a client.
   * @param tell says something to the client's relay
   */
  serve: (hello: Hello, socket: Socket, tell: (said: FromResident) => void) => ServedClient
  /** Why a client cannot be served here: then its relay serves it, and reports the reason as without a resident. */
  refuses: (hello: Hello) => Promise<Refusal | undefined>
  /** How many cells run or wait. */
  openCells: () => number
  /** Whether its page is open in a browser: then it stays without clients. */
  isWatched: () => boolean
  /** Ends the bridge. The next client opens another. */
  close: () => Promise<void>
}

interface Refusal {
  reason: string
  /** A resident that starts now would serve the client. */
  isOutdated?: boolean
}

/** A client that was welcomed. */
interface Connected {
  hello: Hello
  connectedAt: number
  client: ServedClient
}

export class Resident {
  readonly #options: ResidentOptions
  readonly #server: Server
  readonly #clients = new Map<Socket, Connected | undefined>()
  /** Those that have said nothing yet, oldest first. */
  readonly #silent = new Set<Socket>()
  readonly #startedAt = Date.now()
  readonly #ending = new Set<Promise<unknown>>()
  #holder: bigint | undefined
  #idle: ReturnType<typeof setTimeout> | undefined
  #isEnding = false
  readonly #turns = new FairTurns()
  /** It stays until it is stopped. */
  #isKept = false

  constructor(options: ResidentOptions) {
    this.#options = options
    // Half-open: what was asked before the client left is still answered.
    this.#server = createSocketServer({ allowHalfOpen: true })
    this.#server.maxConnections = MAX_CONNECTIONS
  }

  /** @returns false when another resident has the name. @throws what node:fs and node:net throw */
  async start(): Promise<boolean> {
    const { place, key, log, idleMs } = this.#options
    this.#holder = await publish(this.#server, place, key.name, {
      admit: (socket) => this.#admit(socket),
      onDisplaced: endLeftGroups,
    })
    if (this.#holder === undefined) return false
    this.#isKept = existsSync(place.kept)
    rmSync(place.kept, { force: true })
    void removeKilled(place, endLeftGroups).catch(() => {})
    recordGroups(() => (this.#hasName ? place.home : undefined))
    log.info('The resident bridge runs', { pid: process.pid })
    this.#idle = setTimeout(() => void this.end('no client came'), Math.max(FIRST_CLIENT_MS, idleMs))
    setInterval(() => this.#watchName(), WATCH_MS).unref()
    return true
  }

  get #hasName(): boolean {
    return this.#holder !== undefined && holderOf(this.#options.place.home) === this.#holder
  }

  /** It was displaced while it hung, or its folder was removed: no client finds it, so it ends with those it has. */
  #watchName(): void {
    if (this.#isEnding || this.#hasName) return
    this.#server.close()
    if (this.#clients.size === 0) void this.end('its name was taken')
  }

  #admit(socket: Socket): void {
    socket.on('error', () => {})
    const refuse = (reason: string): void => {
      this.#clients.delete(socket)
      socket.end(controlLine({ refused: reason }))
      // It may keep its half open.
      setTimeout(() => socket.destroy(), HELLO_MS).unref()
    }
    if (!this.#hasName) return void socket.destroy()
    this.#clients.set(socket, undefined)
    this.#makeRoom(socket)
    const late = setTimeout(() => socket.destroy(), HELLO_MS)
    let client: ServedClient | undefined
    /** What the client said before it was welcome. */
    let early: string[] | undefined
    let helloBytes = 0
    let waiting = 0
    /** Does this after what the client has said before, and in between with what others say. */
    const inTurn = (work: () => void): void => {
      const turn = this.#turns.take(socket)
      if (!turn) return work()
      if (waiting++ === 0) socket.pause()
      void turn.then(() => {
        if (--waiting === 0) socket.resume()
        work()
      })
    }
    const welcome = async (hello: Hello): Promise<void> => {
      early = []
      const refused =
        hello.key === this.#options.key.text
          ? await this.#options.refuses(hello)
          : { reason: 'its settings are others', isOutdated: false }
      if (refused?.isOutdated && !hello.isCommand && this.#isUnused) this.#makeWay()
      else if (refused) return refuse(refused.reason)
      if (this.#clientCount >= MAX_CLIENTS) return refuse(`it serves ${MAX_CLIENTS} clients`)
      // Its relay goes on to the next resident.
      if (this.#isEnding) socket.destroy()
      if (socket.destroyed) return
      socket.write(controlLine({ welcome: { pid: process.pid } }))
      client = this.#options.serve(hello, socket, (said) => tell(socket, said))
      this.#clients.set(socket, { hello, connectedAt: Date.now(), client })
      clearTimeout(this.#idle)
      this.#idle = undefined
      for (const line of early) inTurn(() => client?.receive(line))
      if (hasEnded) inTurn(over)
    }
    const lines = createLineSplitter({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => {
        if (!isControl(line)) {
          // A relay refuses such a message itself.
          const { tooCostly } = lineCost(line, MAX_MESSAGE_STRUCTURE)
          if (socket.destroyed || tooCostly !== undefined) return void socket.destroy()
          const text = line.toString()
          return client ? inTurn(() => client?.receive(text)) : void early?.push(text)
        }
        const said = readControl(line)
        if (said['ping'] === true) return void socket.write(controlLine({ pong: true }))
        if (said['status'] === true) return void socket.end(controlLine({ status: this.#status }))
        if (said['stop'] === true) {
          socket.end(controlLine({ pong: true }))
          return void this.end('sandbridge stop')
        }
        if (said['keep'] === true) {
          socket.end(controlLine({ pong: true }))
          return this.keep()
        }
        if (said['over'] === true) return inTurn(over)
        if (client) return client.told(said)
        const hello = early ? undefined : helloOf(said)
        if (!hello) return
        clearTimeout(late)
        this.#silent.delete(socket)
        void welcome(hello)
      },
      onTooLong: () => socket.destroy(),
    })
    socket.on('data', (chunk: Buffer) => {
      if (!client) helloBytes += chunk.length
      if (helloBytes > MAX_HELLO_BYTES + MAX_LINE_BYTES) socket.destroy()
      else lines.push(chunk)
      if (leavesUnread(socket)) socket.destroy()
      else if (waiting === 0) letOthers(socket, chunk)
    })
    let hasEnded = false
    const over = (): void => {
      clearTimeout(late)
      hasEnded = true
      const ended = client?.end().finally(() => socket.end())
      client = undefined
      if (!ended) {
        // One that is not welcomed yet is still served what it has asked.
        if (!early) socket.end()
        return
      }
      this.#ending.add(ended)
      void ended.finally(() => this.#ending.delete(ended))
    }
    socket.once('end', () => inTurn(over))
    socket.once('close', () => {
      over()
      this.#clients.delete(socket)
      this.#silent.delete(socket)
      this.#waitForClients()
    })
  }

  /** A relay or command says at once what it wants, so the connection that has said nothing for longest is neither. */
  #makeRoom(socket: Socket): void {
    this.#silent.add(socket)
    const [oldest] = this.#silent
    if (!oldest || this.#silent.size <= MAX_SILENT) return
    this.#silent.delete(oldest)
    oldest.destroy()
  }

  get #clientCount(): number {
    return [...this.#clients.values()].filter((one) => one !== undefined).length
  }

  get #isUnused(): boolean {
    return this.#clientCount === 0 && !this.#options.isWatched()
  }

  #waitForClients(): void {
    if (this.#clientCount > 0 || this.#isEnding) return
    if (!this.#hasName) return void this.end('its name was taken')
    // A connection that is no client's, as of `sandbridge status`, does not stop the time.
    const { idleMs } = this.#options
    this.#idle ??= setTimeout(() => this.#endUnwatched(), this.#isKept ? Math.max(idleMs, KEPT_READY_MS) : idleMs)
  }

  /** No client has anything here. The next resident stays as long as this one would have. */
  #makeWay(): void {
    if (this.#isEnding) return
    try {
      if (this.#isKept) writeFileSync(this.#options.place.kept, '')
    } catch {
      // A disk that is full.
    }
    void this.end('settings have changed')
  }

  /** From now on it stays without clients. */
  keep(): void {
    this.#isKept = true
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.#waitForClients()
  }

  #endUnwatched(): void {
    if (this.#isKept && !this.#options.isWatched()) return void this.#options.close().catch(() => {})
    if (!this.#options.isWatched()) return void this.end('the last client has gone')
    this.#idle = setTimeout(() => this.#endUnwatched(), WATCH_MS)
  }

  get #status(): ResidentStatus {
    const clients = [...this.#clients.values()].flatMap((one) => {
      if (!one) return []
      const { hello, connectedAt, client } = one
      return [{ pid: hello.pid, cwd: hello.cwd, connectedAt, servers: client.servers() }]
    })
    const { log } = this.#options.place
    const about = { pid: process.pid, version: VERSION, startedAt: this.#startedAt, isKept: this.#isKept }
    return { ...about, log, clients }
  }

  /** Lets each client go on at the next resident as soon as its calls are answered. @returns how many are open */
  #drain(): number {
    let open = this.#options.openCells()
    for (const [socket, one] of this.#clients) {
      const calls = one?.client.drain?.()
      if (calls === undefined || socket.writableEnded || socket.destroyed) continue
      open += calls
      if (calls === 0) socket.end(controlLine({ done: true }))
    }
    return open
  }

  /**
   * Waits for the cells that run, and for those behind them in their sessions. Each has its own time limit, which a
   * question to the user pauses. So one is stuck once none has ended for as long as that.
   */
  async #cellsEnd(): Promise<void> {
    let fewest = Infinity
    let until = 0
    for (let open = this.#drain(); open > 0; open = this.#drain()) {
      const now = performance.now()
      if (open < fewest) until = now + this.#options.maxTimeoutMs + MAX_PAUSE_MS
      else if (now > until) return
      fewest = Math.min(fewest, open)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }

  /**
   * Takes no new clients and begins no more calls of those it has, waits for the cells that have begun, and ends the
   * process. A second call does not wait.
   */
  async end(reason: string): Promise<void> {
    const { place, log, close } = this.#options
    const wasEnding = this.#isEnding
    this.#isEnding = true
    // In this order: on Windows, any user may take the name of a pipe that was closed.
    if (this.#holder !== undefined) displace(place.home, this.#holder)
    this.#server.close()
    if (!wasEnding) await this.#cellsEnd()
    log.info('The resident bridge ends', { reason })
    for (const socket of this.#clients.keys()) socket.end()
    await Promise.allSettled(this.#ending)
    await close()
    process.exit(0)
  }
}

/** A client that does not read gets no more of its log. */
function tell(socket: Socket, said: FromResident): void {
  if (!socket.destroyed && socket.writableLength < 2 ** 20) socket.write(controlLine(said))
}
