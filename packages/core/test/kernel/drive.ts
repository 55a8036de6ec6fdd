// Drives a kernel over bare frames, so that its tests depend on docs/protocol.md instead of the bridge's half.
import { afterAll, it as base, onTestFinished } from 'vitest'
import { whyNoPython } from '../support/sandboxes/plain-kernel.ts'
import { startPlainPython } from '../support/sandboxes/plain-python.ts'
import type { Sandbox } from '../../src/isolation/provider.ts'
import { writeBatched } from '../../src/util/bytes/write-batched.ts'
import { skip } from '../support/suite/needs.ts'

export type Frame = Record<string, unknown> & { type: string }
type Answer = { value: unknown } | { error: { code: string; message: string; hint?: string; data?: unknown } }

export interface Call {
  id: number
  method: string
  params: Record<string, unknown>
}

/** The result of a cell. */
export interface Outcome {
  status: string
  value?: Record<string, unknown>
  error?: { name: string; message: string; traceback: string; values?: string; hint?: string; search?: string }
  notes?: string[]
  stdout: string
  stderr: string
  /** All frames of the cell, in order. */
  frames: Frame[]
}

export interface RunOptions {
  /** Ask for values as JSON, too. */
  json?: boolean
  /** Language of the code, if it is not Python. */
  language?: 'bash' | 'javascript'
  named?: boolean
  servers?: { name: string; alias: string; description?: string }[]
  /** Answers a call; undefined leaves it open. */
  onCall?: (call: Call) => Answer | undefined | Promise<Answer | undefined>
  /** Checks the calls in a cell's source before it runs; without it, no call is known to be wrong. */
  onCheck?: (call: Call) => Answer | undefined | Promise<Answer | undefined>
  /** Receives every frame as it arrives. */
  onFrame?: (frame: Frame) => void
}

export const GITHUB = [{ name: 'github', alias: 'github', description: 'Issues and pull requests' }]

export class Driver {
  readonly sandbox: Sandbox
  /** Lines from the kernel that were not JSON. There must never be any. */
  readonly badLines: string[] = []
  /** Sent with each cell. */
  lost: string | undefined
  missing: { name: string; reason: string }[] | undefined
  #cell = 0
  #parts: Buffer[] = []
  #listener: ((frame: Frame) => void) | undefined
  #early: Frame[] = []

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox
    sandbox.stdout.on('data', (chunk: Buffer) => this.#push(chunk))
  }

  send(frame: object): void {
    writeBatched(this.sandbox.stdin, Buffer.from(`${JSON.stringify(frame)}\n`))
  }

  async ready(): Promise<Frame> {
    const frame = await this.#until((one) => one.type === 'ready')
    return frame
  }

  /** Runs a cell to its end. Rejects when the kernel ends first. */
  async run(code: string, options: RunOptions = {}): Promise<Outcome> {
    const cell = (this.#cell += 1)
    const frames: Frame[] = []
    const over = this.#until((frame) => {
      // The check before a cell is not part of the cell.
      if (frame['method'] === 'check_calls') {
        void this.#answer(frame, options.onCheck ?? (() => ({ value: [] })))
        return false
      }
      frames.push(frame)
      options.onFrame?.(frame)
      if (frame.type === 'call') void this.#answer(frame, options.onCall)
      return frame.type === 'done'
    })
    this.send({
      type: 'run',
      cell,
      code,
      ...(options.servers && { servers: options.servers }),
      ...(options.json && { json: true }),
      ...(options.language && { language: options.language }),
      ...(options.named && { named: true }),
      ...(this.lost && { lost: this.lost }),
      ...(this.missing && { missing: this.missing }),
    })
    const done = await over
    const text = (stream: string) =>
      frames.map((one) => (one.type === 'output' && one['stream'] === stream ? String(one['text']) : '')).join('')
    return { ...(done as unknown as Outcome), stdout: text('stdout'), stderr: text('stderr'), frames }
  }

  /** Runs a cell that must succeed, and returns its value as text. */
  async value(code: string, options?: RunOptions): Promise<unknown> {
    const outcome = await this.run(code, options)
    if (outcome.status !== 'ok') throw new Error(outcome.error?.traceback ?? outcome.status)
    return outcome.value?.['text/plain']
  }

  async #answer(frame: Frame, onCall: RunOptions['onCall']): Promise<void> {
    const answer = await onCall?.(frame as unknown as Call)
    if (answer) this.send({ type: 'reply', id: frame['id'], ...answer })
  }

  #until(isLast: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve, reject) => {
      this.#listener = (frame) => {
        if (!isLast(frame)) return
        this.#listener = undefined
        resolve(frame)
      }
      for (const frame of this.#early.splice(0)) this.#listener?.(frame)
      void this.sandbox.exited.then((exit) => reject(new Error(`the kernel ended: ${JSON.stringify(exit)}`)))
    })
  }

  #push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(start, end)]).toString()
      this.#parts = []
      start = end + 1
      try {
        const frame = JSON.parse(line) as Frame
        if (this.#listener) this.#listener(frame)
        else this.#early.push(frame)
      } catch {
        this.badLines.push(line)
      }
    }
    this.#parts.push(chunk.subarray(start))
  }
}

/** A fresh kernel that is ended with the test; skips the test without a Python. */
export async function startKernel(): Promise<Driver> {
  const reason = whyNoPython()
  if (reason !== undefined) skip(reason)
  const driver = new Driver(startPlainPython())
  onTestFinished(() => driver.sandbox.dispose())
  await driver.ready()
  return driver
}

/** A test that names `kernel` gets a fresh one. */
export const it = base.extend('kernel', startKernel)

/**
 * One kernel for the tests of a file whose cells leave nothing behind, or only what the test itself sets and reads; a
 * new one when it has ended.
 */
export function sharedKernel(): () => Promise<Driver> {
  let shared: Driver | undefined
  afterAll(() => shared?.sandbox.dispose())
  return async () => {
    const reason = whyNoPython()
    if (reason !== undefined) skip(reason)
    if (shared) return shared
    const driver = new Driver(startPlainPython())
    await driver.ready()
    void driver.sandbox.exited.then(() => (shared = undefined))
    return (shared = driver)
  }
}

/** The result of a tool that returns one text. */
export const text = (words: string): Answer => ({ value: { content: [{ type: 'text', text: words }] } })
