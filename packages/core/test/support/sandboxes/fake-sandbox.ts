// A sandbox without a process: the test plays the kernel, so it can misbehave in ways that no real one does.
import { PassThrough } from 'node:stream'
import type { Sandbox, SandboxExit } from '../../../src/isolation/provider.ts'

export class FakeSandbox implements Sandbox {
  readonly id = 'fake'
  readonly provider = 'pyodide'
  readonly stdin = new PassThrough()
  readonly stdout = new PassThrough()
  readonly exited: Promise<SandboxExit>
  interrupts = 0
  disposed = false
  #exit!: (exit: SandboxExit) => void
  #received: Record<string, unknown>[] = []
  #onReceive: (() => void) | undefined

  constructor() {
    this.exited = new Promise((resolve) => (this.#exit = resolve))
    let rest = ''
    this.stdin.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop()!
      const frames = lines.map((text) => JSON.parse(text) as Record<string, unknown>)
      // Answers warm-up cells, which the test does not start.
      for (const { cell } of frames) if (cell === 0) this.send({ type: 'done', cell, status: 'ok' })
      this.#received.push(...frames.filter(({ cell }) => cell !== 0))
      this.#onReceive?.()
    })
  }

  /** Plays the kernel: sends frames, or raw lines. */
  send(...frames: (object | string)[]): void {
    for (const frame of frames) this.stdout.write(`${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n`)
  }

  ready(): this {
    this.send({ type: 'ready', protocol: 1, python: '3.14.2', platform: 'test' })
    return this
  }

  /** The next frame of this type that the bridge sent. */
  async received(type: string): Promise<Record<string, unknown>> {
    for (;;) {
      const index = this.#received.findIndex((frame) => frame['type'] === type)
      if (index !== -1) return this.#received.splice(index, 1)[0]!
      await new Promise<void>((resolve) => (this.#onReceive = resolve))
    }
  }

  interrupt(): void {
    this.interrupts += 1
  }

  end(exit: Partial<SandboxExit> = {}): void {
    this.#exit({ reason: 'exited', code: 1, signal: null, detail: '', ...exit })
  }

  async dispose(): Promise<void> {
    this.disposed = true
    this.end({ reason: 'disposed', code: null, signal: 'SIGKILL' })
  }
}
