// What a client of a hosted bridge talks over: the SDK's transport for stdio, without a process.
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client'
import { HostedProcess } from './hosted-process.ts'
import type { Start } from './messages.ts'

/** How long each next step of an end waits: end of input, SIGTERM, SIGKILL. */
const STEP_MS = 2_000

export class HostedTransport implements Transport {
  declare onclose?: () => void
  declare onerror?: (error: Error) => void
  declare onmessage?: (message: JSONRPCMessage) => void
  readonly stderr = new PassThrough()
  readonly #start: Start
  readonly #read: ReadBuffer
  #process: HostedProcess | undefined
  #closed: Promise<void> | undefined

  constructor(start: Start, maxBufferSize: number) {
    this.#start = start
    this.#read = new ReadBuffer({ maxBufferSize })
  }

  async start(): Promise<void> {
    const hosted = (this.#process = new HostedProcess(this.#start))
    hosted.stderr.pipe(this.stderr)
    hosted.stdout.on('data', (chunk: Buffer) => {
      this.#read.append(chunk)
      this.#readMessages()
    })
    this.#closed = new Promise((resolve) => hosted.once('exit', () => resolve()))
    hosted.once('exit', () => {
      this.#process = undefined
      this.onclose?.()
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#process) throw new Error('Not connected')
    this.#process.stdin.write(serializeMessage(message))
  }

  async close(): Promise<void> {
    const hosted = this.#process
    if (!hosted) return
    hosted.stdin.end()
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await Promise.race([this.#closed, sleep(STEP_MS, undefined, { ref: false })])
      if (hosted.hasEnded) break
      hosted.kill(signal)
    }
    await this.#closed
  }

  #readMessages(): void {
    for (;;) {
      try {
        const message = this.#read.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        this.onerror?.(error as Error)
      }
    }
  }
}
