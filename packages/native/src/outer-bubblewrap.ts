// The outer isolation on Linux: bubblewrap around the sandbox process, with a seccomp filter. Inside are only Node, its
// libraries and the bundle, read-only: no /proc, /dev, network or other processes. Never as real root.
import { realpath } from 'node:fs/promises'
import { NOBODY } from '@sandbridge/core/isolation'
import type { OuterLayer } from '@sandbridge/core/parts'
import { runCommand } from '@sandbridge/core/util/process'
import { type BubblewrapPrograms, findBubblewrapPrograms } from './find-bubblewrap.ts'
import { seccompFilter } from './seccomp/seccomp-filter.ts'

const INNER_NODE = '/node'
const INNER_BUNDLE = '/bundle'
/** It answers in milliseconds. */
const LDD_TIMEOUT_MS = 5_000

/** Not yet tried, in the order of PATH. @returns a sentence without any */
export function bubblewrapLayers(node: string, bundle: string): (() => Promise<OuterLayer>)[] | string {
  const found = findBubblewrapPrograms()
  return typeof found === 'string' ? found : found.map((programs) => () => bubblewrapLayer(programs, node, bundle))
}

export async function bubblewrapLayer(
  { bwrap, become }: BubblewrapPrograms,
  node: string,
  bundle: string,
): Promise<OuterLayer> {
  const asUser = become.length === 0 ? [] : [...become, '--']
  const wall = await bubblewrapArguments(node, bundle)
  const extraInput = seccompFilter(process.arch === 'arm64' ? 'arm64' : 'x64', true)
  return {
    wall: 'bubblewrap',
    verdict: 'bubblewrap is its outer wall',
    node: INNER_NODE,
    bundle: INNER_BUNDLE,
    wrap: (command) => ({ command: [...asUser, bwrap, ...wall, '--', ...command], extraInput }),
  }
}

async function bubblewrapArguments(node: string, bundle: string): Promise<string[]> {
  const binds: string[] = []
  for (const library of await librariesOf(node)) binds.push('--ro-bind', await realpath(library), library)
  binds.push('--ro-bind', await realpath(node), INNER_NODE, '--ro-bind', bundle, INNER_BUNDLE)
  const flags =
    '--unshare-all --unshare-user --die-with-parent --new-session --cap-drop ALL --clearenv --hostname sandbox'
  const last = '--remount-ro / --chdir / --seccomp 3'
  return [...flags.split(' '), '--uid', NOBODY, '--gid', NOBODY, ...binds, ...last.split(' ')]
}

/** Returns a program's shared libraries and its loader, as listed by `ldd`. A static program has none. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await runCommand('ldd', [program], { timeoutMs: LDD_TIMEOUT_MS })
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1]!)
}
