// The outer layer around the process of the embedded sandbox, and bubblewrap as one, as far as the core knows it.
import { Part } from '../../util/part.ts'
import type { SandboxCommand } from './spawn-sandbox.ts'

export const outerWall = new Part<OuterWallPart>('bubblewrap as an outer wall')

interface OuterWallPart {
  /** Not yet tried, best first. @returns a sentence without any */
  bubblewrapLayers: (node: string, bundle: string) => (() => Promise<OuterLayer>)[] | string
}

/** Wraps the sandbox's command, and gives the paths that the command must use. */
export interface OuterLayer {
  /** What it is, or why there is none, for a person: follows a semicolon. */
  verdict: string
  /** Without one, root at least becomes another user, where it can. */
  wall: 'bubblewrap' | 'namespaces' | 'none'
  node: string
  bundle: string
  wrap(command: string[]): SandboxCommand
}
