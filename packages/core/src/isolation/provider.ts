// The interface for isolation: a started sandbox is a duplex byte stream plus exited, interrupt() and dispose().
// Each provider's folder implements it, and providers never import each other. They do not interpret the bytes; the
// kernel does.
import type { Readable, Writable } from 'node:stream'
import type { ProcessUsage } from '../util/process/process-tree-usage.ts'

/** A configured package that sandboxes do not have. */
export interface MissingPackage {
  /** As the user wrote it: a requirement, or the path of a wheel. */
  word: string
  /** Its name in an index; of a wheel, as its file begins. */
  name: string
  /** Why not, in one line without a period. */
  reason: string
}

export type ProviderName = 'pyodide' | 'podman' | 'docker' | 'bubblewrap' | 'kubernetes'

export interface Candidate {
  name: ProviderName
  usable: boolean
  /** One sentence for a person: what was found, or what is wrong and what to do. */
  verdict: string
  /** Usable after something slow that `prepare` does: Podman's virtual machine must be started. */
  asleep?: boolean
  /** A container engine that runs as root. A usable rootless engine is preferred. */
  rootful?: boolean
  /** What was passed over inside of it, such as a Python. */
  remarks?: string[]
  /** A sandbox can start at once: no image must be pulled or unpacked before. */
  isReady?: boolean
}

/** How a sandbox ended: `reason` if the provider knows it, `detail` for the log and for a failed start. */
export interface SandboxExit {
  reason:
    | 'exited'
    | 'disposed'
    | 'out-of-memory'
    | 'stack-overflow'
    | 'killed'
    | 'failed-to-start'
    | 'engine-gone'
    // A cluster evicted the sandbox, ended it because of its age, or has no node for another one.
    | 'evicted'
    | 'expired'
    | 'no-room'
    // It continues for the next bridge.
    | 'left'
  /** Exit code of the sandbox's process; null if a signal ended it. */
  code: number | null
  /** The signal that ended the sandbox's process; with the reason `exited`, the one that ended the kernel in it. */
  signal: NodeJS.Signals | null
  /** The end of stderr, at most 4 KiB. A cell may have written it: use it only in the log. */
  detail: string
}

/** A started sandbox. It holds one kernel and never serves two sessions. */
export interface Sandbox {
  readonly id: string
  readonly provider: ProviderName
  /** Bridge to kernel. Writing after the sandbox has ended is harmless. */
  readonly stdin: Writable
  /** Kernel to bridge. */
  readonly stdout: Readable
  /** Resolves once, when the sandbox has ended for any reason. Never rejects. */
  readonly exited: Promise<SandboxExit>
  /** Timeout for its kernel to become ready, if longer than usual: a node may first have to pull the image. */
  readonly startTimeoutMs?: number
  /** Raise KeyboardInterrupt in the running cell: sends byte 0x03, outside of any frame. Never throws. */
  interrupt(): void
  /** Its current resource usage; undefined if that cannot be determined cheaply. Never rejects. */
  usage?(): Promise<ProcessUsage | undefined>
  /** End the sandbox and everything in it, forcibly. Idempotent; resolves when nothing is left. */
  dispose(): Promise<void>
  /** Set if it can outlive this bridge. */
  readonly durable?: Durable
}

/** Operations of a sandbox that can outlive its bridge. */
export interface Durable {
  /** What an earlier bridge left; missing in a new sandbox. */
  readonly left: LeftBehind | undefined
  /** Where other bridges find it. */
  readonly place: KeptPlace
  /** It is on another machine and has been silent since it was interrupted, so it is unreachable. */
  readonly isUnheard: boolean
  /** From now on, it waits for the next bridge when this one ends. @throws Error if it cannot be kept */
  keep(session: KeptSession): Promise<void>
  /** Resend what the earlier bridge did not acknowledge, and continue from there. */
  resume(): void
  /** Announce the cell that the next frame runs. */
  beginCell(cell: CellMark): void
  /** The client has received everything so far. */
  release(): void
  /** Leave it to the next bridge: `exited` resolves with the reason `left`. Ends it instead if it is not kept. */
  leave(): Promise<void>
}

/** The owner of a sandbox, and details for people. */
export interface KeptSession {
  /** Identifies the owner: a session with the same value gets the sandbox. A hash, for it may come from a secret. */
  owner: string
  client?: string | undefined
  /** Its location, if the caller knows it. */
  place?: KeptPlace | undefined
}

export interface KeptPlace {
  name: string
  uid: string
}

export interface CellMark {
  number: number
  /** When it is interrupted, in milliseconds since 1970. */
  deadline: number
  /** Identifies its source. */
  digest: string
}

export interface LeftBehind extends CellMark {
  /** Its result was not delivered yet. */
  isPending: boolean
  isRunning: boolean
  /** Its time limit passed while no bridge was connected. */
  isLate: boolean
  /** Output dropped because it exceeded the limit while no bridge was connected. */
  droppedBytes: number
  /** Ids of calls that the earlier bridge began and did not answer. */
  openCalls: readonly number[]
}

/** The result of resuming a session's sandbox. */
export interface Resumed {
  /** Missing if there is none, or none that can be used. */
  sandbox?: Sandbox | undefined
  /** Information for the user. */
  note?: string
}

/** Limits for every sandbox, whatever its provider. */
export interface SandboxLimits {
  /** Hard limit for the memory of the whole sandbox, in bytes. */
  memoryBytes: number
}

/** A program other than a kernel, such as an MCP server, with the isolation of a sandbox. */
export interface Program {
  /** Name for people who look at running programs. */
  name: string
  image: string
  /** Missing: the image's own program. */
  command?: string | undefined
  /** May contain secrets, like the environment. */
  args: readonly string[]
  environment: Readonly<Record<string, string>>
  folder?: string | undefined
  /** Allow the internet. Otherwise it has no network. */
  hasNetwork: boolean
  onStderr: (chunk: Buffer) => void
}

/** A started program. Its streams can be used at once. */
export interface StartedProgram extends Pick<Sandbox, 'stdin' | 'stdout' | 'exited' | 'dispose'> {
  /** Resolves with true when it runs and its streams are connected; with false if it ends first. Never rejects. */
  readonly attached: Promise<boolean>
}

/** A folder of this machine that cells get. */
export interface MountedFolder {
  source: string
  target: string
  mode: 'ro' | 'rw'
}

/** Makes sandboxes of one kind. `start` resolves when the streams exist; the kernel's first frame signals readiness. */
export interface Provider {
  readonly name: ProviderName
  /** Most concurrent starts, if this machine does not determine that. */
  readonly startsAtOnce?: number
  /** Describes how sandboxes are started, if there are several ways. Known after the first start. */
  readonly startMethod?: string
  /** Configured packages that its sandboxes do not have. Known after `prepare`. */
  readonly missingPackages?: readonly MissingPackage[]
  /** Slow one-off work (a snapshot, an image pull) before the first start. Concurrent calls share one run. */
  prepare(onProgress?: (message: string) => void): Promise<void>
  start(limits: SandboxLimits): Promise<Sandbox>
  /** Resume the sandbox that an earlier bridge kept for this session, if sandboxes can outlive their bridge. */
  resume?(session: KeptSession): Promise<Resumed>
  /** Tells whether there is one. */
  keeps?(session: KeptSession): Promise<boolean>
  /** Start a program where sandboxes run, if that is another machine. @throws BridgeError as `start` does */
  startProgram?(program: Program, limits: SandboxLimits): Promise<StartedProgram>
}
