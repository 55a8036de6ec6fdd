// The outer layer around the process of the embedded sandbox: the strongest one whose trial run succeeds here.
import { messageOf } from '../../errors.ts'
import { findPrograms } from '../../util/process/find-program.ts'
import { lastLine } from '../../util/text/server-words.ts'
import { isRealRoot, NOBODY } from '../local/real-root.ts'
import { type OuterLayer, outerWall } from './native-wall-part.ts'
import { spawnSandbox } from './spawn-sandbox.ts'

const TRY_TIMEOUT_MS = 10_000

/**
 * Returns bubblewrap as the outer layer if it works here, else what is left. Never throws.
 * @param missing in tests: why there is no bubblewrap
 * @param weaker replaced in tests
 */
export async function findOuterLayer(
  node: string,
  bundle: string,
  missing?: string,
  weaker: typeof weakerLayers = weakerLayers,
): Promise<OuterLayer> {
  const found = missing ?? (await bubblewrapLayers(node, bundle))
  let reason = typeof found === 'string' ? found : ''
  for (const layer of typeof found === 'string' ? [] : found) {
    try {
      return await tried(await layer())
    } catch (error) {
      reason ||= `a trial run of bubblewrap failed: ${lastLine(messageOf(error)) ?? 'no output'}`
    }
  }
  const layers = weaker(node, bundle, reason)
  const last = layers.pop()!
  for (const layer of layers) {
    const works = await tried(layer).catch(() => undefined)
    if (works) return works
  }
  return last
}

async function bubblewrapLayers(node: string, bundle: string) {
  return (await outerWall.ifHere())?.bubblewrapLayers(node, bundle) ?? 'bubblewrap is not in this build'
}

/** Runs Node once inside the layer, and has it look into the bundle. @throws Error why that failed */
async function tried(layer: OuterLayer): Promise<OuterLayer> {
  const script = `require('fs').readFileSync(${JSON.stringify(`${layer.bundle}/child.cjs`)});process.stdout.write('through')`
  const attempt = spawnSandbox(layer.wrap([layer.node, '--no-warnings', '-e', script]))
  const timer = setTimeout(() => void attempt.dispose(), TRY_TIMEOUT_MS)
  let said = ''
  for await (const chunk of attempt.stdout) said += String(chunk)
  const exit = await attempt.exited
  clearTimeout(timer)
  if (said !== 'through') throw new Error(exit.detail || `it exited with ${exit.signal ?? exit.code}`)
  return layer
}

const NAMESPACES = '--net --ipc --uts --pid --fork --kill-child'.split(' ')
/** The first process of a namespace cannot end itself by a signal, as the sandbox does. */
const SECOND_PROCESS = ['/bin/sh', '-c', '"$@"; exit $?', 'sandbridge']

/** The layers to try, strongest first; the last needs nothing. @param reason why bubblewrap cannot be used */
export function weakerLayers(node: string, bundle: string, reason: string, programs = findPrograms): OuterLayer[] {
  const isRoot = isRealRoot() && process.platform === 'linux'
  const layer = (isWall: boolean, prefix: string[], user?: number): OuterLayer => ({
    wall: isWall ? 'namespaces' : 'none',
    verdict: isWall
      ? `only namespaces by unshare are its outer wall, without a filter of system calls: ${reason}`
      : `it has no outer wall here${isRoot && user === undefined ? ' and runs as root' : ''}: ${reason}`,
    node,
    bundle,
    wrap: (command) => ({ command: [...prefix, ...command], ...(user !== undefined && { user }) }),
  })
  if (process.platform !== 'linux') return [layer(false, [])]
  const nobody = isRoot ? Number(NOBODY) : undefined
  const [[unshare], [setpriv]] = [programs('unshare'), programs('setpriv')]
  const still = setpriv === undefined ? [] : [setpriv, '--no-new-privs', '--']
  const layers: OuterLayer[] = []
  if (unshare !== undefined) {
    layers.push(layer(true, [...still, unshare, '--user', ...NAMESPACES, '--', ...SECOND_PROCESS], nobody))
    // Where only root may make namespaces.
    if (isRoot && setpriv !== undefined) {
      const become = [setpriv, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs', '--']
      layers.push(layer(true, [unshare, ...NAMESPACES, '--', ...become, ...SECOND_PROCESS]))
    }
  }
  if (isRoot) layers.push(layer(false, still, nobody))
  return [...layers, layer(false, [])]
}
