// What attacks run in: a sandbox's kernel, or an unprotected process. All accept Python and return its output.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Readable } from 'node:stream'
import type { Sandbox } from '../../src/isolation/provider.ts'

export interface Victim {
  /** The cell's output. If the victim has ended, the text says so. */
  run(code: string): Promise<string>
  readonly ended: boolean
  close(): Promise<void>
}

const CELL_TIMEOUT_MS = 60_000

/** A kernel in a fresh sandbox, driven with raw frames. */
export function sandboxVictim(sandbox: Sandbox): Victim {
  const lines = lineReader(sandbox.stdout)
  const state = { ended: false }
  void sandbox.exited.then(() => {
    state.ended = true
    lines.end()
  })
  let cell = 0
  return {
    get ended() {
      return state.ended
    },
    async run(code) {
      cell += 1
      const frame = { type: 'run', cell, code, servers: [] }
      sandbox.stdin.write(`${JSON.stringify(frame)}\n`)
      const timer = setTimeout(() => void sandbox.dispose(), CELL_TIMEOUT_MS)
      let printed = ''
      for (;;) {
        const line = await lines.next()
        if (line === undefined) break
        const answer = parse(line)
        if (answer?.['type'] === 'output') printed += String(answer['text'])
        if (answer?.['type'] !== 'done' || answer['cell'] !== cell) continue
        const error = answer['error'] as { name: string; message: string } | undefined
        clearTimeout(timer)
        return error ? `${printed}\n${error.name}: ${error.message}` : printed
      }
      clearTimeout(timer)
      const { reason, detail } = await sandbox.exited
      return `${printed}\nthe sandbox ended: ${reason} (${detail})`
    },
    close: () => sandbox.dispose(),
  }
}

/** An unprotected process with the environment of the host. */
export function controlVictim(kind: 'python' | 'pyodide', env: NodeJS.ProcessEnv): Victim {
  const here = (name: string): string => fileURLToPath(new URL(`./control/${name}`, import.meta.url))
  const [program, script] =
    kind === 'python' ? ['python3', here('bare.py')] : [process.execPath, here('plain-pyodide.mjs')]
  const child = spawn(program, [script], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = lineReader(child.stdout)
  const state = { ended: false }
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  }).then(() => {
    state.ended = true
    lines.end()
  })
  const stdin = child.stdin
  stdin.on('error', () => {})
  return {
    get ended() {
      return state.ended
    },
    async run(code) {
      stdin.write(`${JSON.stringify({ code })}\n`)
      const timer = setTimeout(() => child.kill('SIGKILL'), CELL_TIMEOUT_MS)
      const line = await lines.next()
      clearTimeout(timer)
      return line === undefined ? 'the control ended' : String(parse(line)?.['output'])
    },
    async close() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Reads lines as they arrive; undefined at the end. */
function lineReader(stream: Readable): { next(): Promise<string | undefined>; end(): void } {
  const ready: string[] = []
  const waiting: ((line: string | undefined) => void)[] = []
  let rest = Buffer.alloc(0)
  let over = false
  const end = (): void => {
    over = true
    for (const resolve of waiting.splice(0)) resolve(undefined)
  }
  stream.on('error', () => {})
  stream.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const line = rest.subarray(0, at).toString()
      rest = rest.subarray(at + 1)
      const resolve = waiting.shift()
      if (resolve) resolve(line)
      else ready.push(line)
    }
  })
  return {
    next: async () => ready.shift() ?? (over ? undefined : new Promise((resolve) => waiting.push(resolve))),
    end,
  }
}
