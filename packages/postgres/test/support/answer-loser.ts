// A proxy between a bridge and PostgreSQL that can let a statement be executed and cut the connection instead of
// passing on its response.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class AnswerLoser {
  readonly url: string
  readonly #server: Server
  readonly #sockets: Set<Socket>
  #statement: string | undefined
  lostCount = 0

  private constructor(url: string, server: Server, sockets: Set<Socket>) {
    this.url = url
    this.#server = server
    this.#sockets = sockets
  }

  /** @param url of the real server */
  static async start(url: string): Promise<AnswerLoser> {
    const { hostname, port } = new URL(url)
    const sockets = new Set<Socket>()
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const own = new URL(url)
    own.port = String((server.address() as AddressInfo).port)
    const loser = new AnswerLoser(own.href, server, sockets)
    server.on('connection', (client) => {
      const upstream = connect(Number(port), hostname)
      let isLosing = false
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        sockets.add(one)
        one.on('error', () => {})
        one.on('close', () => other.destroy())
      }
      client.on('data', (data) => {
        isLosing ||= loser.#loses(data)
        upstream.write(data)
      })
      upstream.on('data', (data) => {
        // The response has arrived, so the statement has been executed.
        if (isLosing) client.destroy()
        else client.write(data)
      })
    })
    return loser
  }

  /** Loses the response to the next statement that contains this text. */
  loseAnswerTo(statement: string): void {
    this.#statement = statement
  }

  stop(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #loses(data: Buffer): boolean {
    if (this.#statement === undefined || !data.includes(this.#statement)) return false
    this.#statement = undefined
    this.lostCount += 1
    return true
  }
}
