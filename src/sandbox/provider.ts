// The one interface for isolation: a started sandbox is a duplex byte stream plus exited, interrupt() and dispose().
// Providers (pyodide, container, bubblewrap) implement it and never import each other. What the bytes mean is the kernel's business, not theirs.
import type { Readable, Writable } from 'node:stream'
import type { ProcessUsage } from '../process/process-tree-usage.ts'

export type ProviderName = 'pyodide' | 'podman' | 'docker' | 'bubblewrap' | 'kubernetes'

/** How a sandbox ended. `reason` says why when the provider can know it; `detail` is for the log, and for errors of a sandbox that did not come up. */
export interface SandboxExit {
  reason:
    | 'exited'
    | 'disposed'
    | 'out-of-memory'
    | 'stack-overflow'
    | 'killed'
    | 'failed-to-start'
    | 'engine-gone'
    // Of a cluster: it took the sandbox off its node, or ended it because of its age; it has no node for another one.
    | 'evicted'
    | 'expired'
    | 'no-room'
    // It goes on, for the next bridge.
    | 'left'
  /** Exit code of the sandbox's process, or null when a signal ended it. */
  code: number | null
  /** What ended the sandbox's process; with the reason `exited`, what ended the kernel in it. */
  signal: NodeJS.Signals | null
  /** The last lines of what the sandbox's process wrote to stderr, at most 4 KiB. Once a cell has run, it may be the cell's: for the log only. */
  detail: string
}

/** A started sandbox. It holds one kernel and is never used for two sessions. */
export interface Sandbox {
  readonly id: string
  readonly provider: ProviderName
  /** Bridge to kernel. Writing after the sandbox has ended is harmless. */
  readonly stdin: Writable
  /** Kernel to bridge. */
  readonly stdout: Readable
  /** Resolves once, when the sandbox has ended for whatever reason. Never rejects. */
  readonly exited: Promise<SandboxExit>
  /** How long its kernel may take to be ready, where that is longer than usual: a node may have to pull the image first. */
  readonly startTimeoutMs?: number
  /** Raise KeyboardInterrupt in the running cell: byte 0x03 out of band of the frames. Never throws. */
  interrupt(): void
  /** What it uses now; undefined where that cannot be known cheaply. Never rejects. */
  usage?(): Promise<ProcessUsage | undefined>
  /** End the sandbox and everything in it, hard. Idempotent; resolves when nothing of it is left. */
  dispose(): Promise<void>
  /** There when it can outlive this bridge. */
  readonly durable?: Durable
}

/** What a sandbox does besides that can outlive its bridge. docs/protocol.md, "Resuming", has the words that this stands for. */
export interface Durable {
  /** What an earlier bridge has left here; missing in a new sandbox. */
  readonly left: LeftBehind | undefined
  /** Where bridges on other machines find it, too; missing where none can. */
  readonly place: KeptPlace | undefined
  /** It is on another machine, and nothing was heard of it since it was interrupted: it cannot be reached. */
  readonly isUnheard: boolean
  /** From now on it waits for the next bridge when this one ends. @throws what node:fs throws */
  keep(session: KeptSession): Promise<void>
  /** Send what the earlier bridge has not taken on, and go on from there. */
  resume(): void
  /** The frame that is sent next runs this cell. */
  beginCell(cell: CellMark): void
  /** The client has all that came until now. */
  release(): void
  /** Leave it to the next bridge: `exited` resolves with the reason `left`. One that is not kept is ended. */
  leave(): Promise<void>
}

/** Whose sandbox it is, and what a person is told of it. */
export interface KeptSession {
  /** Whoever asks for the same gets it. A hash: it may stand for a secret. */
  owner: string
  client?: string | undefined
  folder?: string | undefined
  /** Where it is, for whoever has been told. */
  place?: KeptPlace | undefined
}

/** A pod. */
export interface KeptPlace {
  name: string
  uid: string
}

export interface CellMark {
  number: number
  /** When it is interrupted, in milliseconds since 1970. */
  deadline: number
  /** Tells its source from another. */
  digest: string
}

export interface LeftBehind extends CellMark {
  /** Whether its result has reached nobody. */
  isPending: boolean
  isRunning: boolean
  /** Its time was up while no bridge was there. */
  isLate: boolean
  /** Of what it printed while no bridge was there: what exceeded the limit. */
  droppedBytes: number
  /** Ids of calls that the earlier bridge began and did not answer. */
  openCalls: readonly number[]
}

/** What an earlier bridge left for a session. */
export interface Resumed {
  /** Missing when there is none, or none that can be had. */
  sandbox?: Sandbox | undefined
  /** What its user should know. */
  note?: string
}

/** What every sandbox is held to, whichever provider makes it. */
export interface SandboxLimits {
  /** Hard cap on the memory of the whole sandbox, in bytes. */
  memoryBytes: number
}

/** Another program than a kernel, such as an MCP server, with the isolation of a sandbox. */
export interface Program {
  /** For people who look at what runs. */
  name: string
  image: string
  /** Missing means what the image starts. */
  command?: string | undefined
  /** May hold secrets, as the environment may. */
  args: readonly string[]
  environment: Readonly<Record<string, string>>
  folder?: string | undefined
  /** It reaches the internet. Without it, nothing. */
  hasNetwork: boolean
  onStderr: (chunk: Buffer) => void
}

/** A program that has been started. Its streams can be used at once. */
export interface StartedProgram extends Pick<Sandbox, 'stdin' | 'stdout' | 'exited' | 'dispose'> {
  /** Resolves when it runs and its streams are connected: true; false when it has ended before. Never rejects. */
  readonly attached: Promise<boolean>
}

/** Makes sandboxes of one kind. `start` resolves when its streams are there; readiness is the kernel's first frame. */
export interface Provider {
  readonly name: ProviderName
  /** How many may start at once, where that is not up to this machine. */
  readonly startsAtOnce?: number
  /** How it starts sandboxes, in words, where there is more than one way. After the first start, it is known. */
  readonly startMethod?: string
  /** Slow one-off work (a snapshot, pulling an image), done ahead of the first start. Idempotent; concurrent calls share one run. */
  prepare(onProgress?: (message: string) => void): Promise<void>
  start(limits: SandboxLimits): Promise<Sandbox>
  /** The sandbox that an earlier bridge kept for this session, where sandboxes outlive their bridge. */
  resume?(session: KeptSession): Promise<Resumed>
  /** Whether there is one. */
  keeps?(session: KeptSession): Promise<boolean>
  /** Start a program where sandboxes run, where that is another machine. @throws BridgeError what `start` throws */
  startProgram?(program: Program, limits: SandboxLimits): Promise<StartedProgram>
}
