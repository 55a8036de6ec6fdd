// What a jail-maker gets, and what it makes. Pure.
import type { Mount } from './view.ts'

/** How to start a process instead. */
export interface Launch {
  command: string
  args: string[]
  env: Record<string, string>
  /** Content of descriptor 3. */
  extraInput?: Buffer
}

export interface Jail {
  launch: Launch
  /** Frees what remains after the process has exited. Resolves when nothing is left. Never rejects. */
  release: () => Promise<void>
}

/** The parameters of a jail, for every jail-maker. */
export interface JailStart {
  home: { source: string; target: string }
  mounts: readonly Mount[]
  proxySocket: string | undefined
  /** Whether it uses the network of this machine. */
  network: boolean
  cwd: string
  command: readonly string[]
  environment: Record<string, string>
}
