// The outer isolation on Linux: bubblewrap around the sandbox process, with a seccomp filter. Inside are only Node, its
// libraries and the bundle, read-only: no /proc, /dev, network or other processes. Used if it is installed and a trial
// run succeeds; never as real root.
import { execFile } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { promisify } from 'node:util'
import { messageOf } from '../../errors.ts'
import { type BubblewrapPrograms, findBubblewrapPrograms, NOBODY } from '../local/find-bubblewrap.ts'
import { seccompFilter } from '../seccomp/seccomp-filter.ts'
import { spawnSandbox } from './spawn-sandbox.ts'
import { lastLine } from '../../util/text/one-line.ts'

/** Wraps the sandbox's command, and gives the paths that the command must use. */
export interface OuterLayer {
  /** One line for a person: in use, or why not. */
  verdict: string
  /** Why there is none. */
  missing?: string
  node: string
  bundle: string
  wrap(command: string[]): { command: string[]; extraInput?: Buffer }
}

const INNER_NODE = '/node'
const INNER_BUNDLE = '/bundle'
const TRY_TIMEOUT_MS = 10_000
const run = promisify(execFile)

/**
 * Returns bubblewrap as the outer layer if it works here, else no layer and the reason. Never throws.
 * @param found replaced in tests
 */
export async function findOuterLayer(
  node: string,
  bundle: string,
  found = findBubblewrapPrograms(),
): Promise<OuterLayer> {
  const without = (missing: string): OuterLayer => ({
    verdict: `bubblewrap: not in use (${missing})`,
    missing,
    node,
    bundle,
    wrap: (command) => ({ command }),
  })
  if (typeof found === 'string') return without(found)
  const reasons: string[] = []
  for (const programs of found) {
    try {
      return await layerOf(programs, node, bundle)
    } catch (error) {
      reasons.push(`a trial run failed: ${lastLine(messageOf(error)) ?? 'no output'}`)
    }
  }
  return without(reasons[0]!)
}

/** @throws Error why its trial run failed */
async function layerOf({ bwrap, become }: BubblewrapPrograms, node: string, bundle: string): Promise<OuterLayer> {
  const asUser = become.length === 0 ? [] : [...become, '--']
  const wall = await bubblewrapArguments(node, bundle)
  const extraInput = seccompFilter(process.arch === 'arm64' ? 'arm64' : 'x64', true)
  const layer: OuterLayer = {
    verdict: 'bubblewrap: own namespaces, no network, read access to Node and the bundle only, system calls filtered',
    node: INNER_NODE,
    bundle: INNER_BUNDLE,
    wrap: (command) => ({ command: [...asUser, bwrap, ...wall, '--', ...command], extraInput }),
  }
  await tryOut(layer)
  return layer
}

async function bubblewrapArguments(node: string, bundle: string): Promise<string[]> {
  const binds: string[] = []
  for (const library of await librariesOf(node)) binds.push('--ro-bind', await realpath(library), library)
  binds.push('--ro-bind', await realpath(node), INNER_NODE, '--ro-bind', bundle, INNER_BUNDLE)
  // No --cap-drop: without root, bubblewrap already drops all capabilities and the bounding set.
  const flags = '--unshare-all --unshare-user --die-with-parent --new-session --clearenv --hostname sandbox'
  const last = '--remount-ro / --chdir / --seccomp 3'
  return [...flags.split(' '), '--uid', NOBODY, '--gid', NOBODY, ...binds, ...last.split(' ')]
}

/** Returns a program's shared libraries and its loader, as listed by `ldd`. A static program has none. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run('ldd', [program]).catch(() => ({ stdout: '' }))
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1]!)
}

/** Runs Node once inside the layer, and has it look into the bundle. */
async function tryOut(layer: OuterLayer): Promise<void> {
  const script = `require('fs').readFileSync('${INNER_BUNDLE}/child.cjs');process.stdout.write('through')`
  const { command, extraInput } = layer.wrap([INNER_NODE, '--no-warnings', '-e', script])
  const attempt = spawnSandbox(command, extraInput)
  const timer = setTimeout(() => void attempt.dispose(), TRY_TIMEOUT_MS)
  let said = ''
  for await (const chunk of attempt.stdout) said += String(chunk)
  const exit = await attempt.exited
  clearTimeout(timer)
  if (said !== 'through') throw new Error(exit.detail || `it exited with ${exit.signal ?? exit.code}`)
}
