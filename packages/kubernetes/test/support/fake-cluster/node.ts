// The node of the fake cluster: runs the container of a pod as a process of this machine, in bubblewrap or as a plain
// child with network access.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import type { WebSocket } from 'ws'
import { bubblewrapArguments, systemCallFilter } from '@sandbridge/bubblewrap/bubblewrap.ts'
import { findHostSystem } from '@sandbridge/bubblewrap/find-system.ts'
import { type Container, expand } from './manifest.ts'

const CHUNK_BYTES = 32 << 10

export interface RunningContainer {
  readonly pid: number | undefined
  readonly isFrozen: boolean
  /** Resolves when the process has ended and its output was read. */
  readonly ended: Promise<number>
  attach(socket: WebSocket): void
  kill(): void
  /** The node is unreachable: nothing is read or written, and the process is stopped. */
  freeze(): void
  thaw(): void
  dropAttachments(): void
}

/**
 * @param walls bubblewrap instead of a plain child process
 * @param fromSecrets variables that are not expanded
 */
export async function runContainer(
  container: Container,
  walls: boolean,
  fromSecrets: Record<string, string> = {},
): Promise<RunningContainer> {
  const own = (container.env ?? []).map(({ name, value }) => [name, expand(value, new Map())] as const)
  const variables = new Map([...Object.entries(fromSecrets), ...own])
  const args = (container.args ?? []).map((arg) => expand(arg, variables))
  const child = walls ? await inBubblewrap(container, variables, args) : plain(args, variables)
  child.stdin.on('error', () => {})
  const attached = new Set<WebSocket>()
  let isFrozen = false

  const forward = (stream: NodeJS.ReadableStream, channel: number) => {
    // Output while nothing is attached is lost, as in a real cluster.
    stream.on('data', (chunk: Buffer) => {
      if (attached.size === 0) return
      stream.pause()
      void sendAll([...attached], channel, chunk).then(() => stream.resume())
    })
    return new Promise<void>((resolve) => stream.once('close', () => resolve()))
  }
  const read = [forward(child.stdout, 1), forward(child.stderr, 2)]
  // Like containerd, which does not wait for the process: the attachment ends with its output.
  if (container.stdinOnce) child.stdout.once('end', () => child.stdin.destroy())
  const exited = new Promise<number>((resolve) => {
    child.once('error', () => resolve(128))
    child.once('exit', (code) => resolve(code ?? 137))
  })
  const ended = exited.then(async (code) => {
    await Promise.all(read)
    for (const socket of attached) {
      socket.send(Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify({ status: 'Success', metadata: {} }))]))
      socket.close(1000)
    }
    return code
  })

  return {
    pid: child.pid,
    get isFrozen() {
      return isFrozen
    },
    ended,
    attach: (socket) => {
      attached.add(socket)
      socket.on('message', (message: Buffer) => {
        if (message[0] === 0 && !child.stdin.write(message.subarray(1))) {
          socket.pause()
          child.stdin.once('drain', () => socket.resume())
        }
        if (message[0] === 255 && message[1] === 0 && socket.protocol.startsWith('v5')) child.stdin.end()
      })
      socket.on('close', () => {
        attached.delete(socket)
        if (container.stdinOnce) child.stdin.destroy()
      })
    },
    kill: () => signal(child, 'SIGKILL'),
    freeze: () => {
      isFrozen = true
      signal(child, 'SIGSTOP')
      for (const socket of attached) socket.pause()
    },
    thaw: () => {
      isFrozen = false
      signal(child, 'SIGCONT')
      for (const socket of attached) socket.resume()
    },
    dropAttachments: () => attached.forEach((socket) => socket.terminate()),
  }
}

/** The slowest reader sets the pace. */
async function sendAll(sockets: WebSocket[], channel: number, chunk: Buffer): Promise<void> {
  for (let from = 0; from < chunk.byteLength; from += CHUNK_BYTES) {
    const message = Buffer.concat([Buffer.from([channel]), chunk.subarray(from, from + CHUNK_BYTES)])
    await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.send(message, () => resolve()))))
  }
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, name)
  } catch {
    // It has ended.
  }
}

async function inBubblewrap(container: Container, variables: Map<string, string>, args: string[]) {
  const { found, verdict } = await findHostSystem()
  if (!found) throw new Error(verdict)
  const { bubblewrap, system } = found
  const environment = { ...system.environment, ...Object.fromEntries(variables) }
  const projects = (container.volumeMounts ?? []).some(({ mountPath }) => mountPath === '/projects')
  const walls = bubblewrapArguments(system, { environment, seccomp: true, projects })
  const child = spawn(bubblewrap.command, [...bubblewrap.before, ...walls, '--', system.python, ...args], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  ;(child.stdio[3] as Writable).on('error', () => {}).end(systemCallFilter())
  return child
}

function plain(args: string[], variables: Map<string, string>) {
  const env = { ...Object.fromEntries(variables), PATH: process.env['PATH'] }
  return spawn('python3', args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env })
}
