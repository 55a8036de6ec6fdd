// Without bubblewrap on Linux: namespaces by `unshare` against network and other processes; for root, another user.
import { findPrograms } from '../../util/process/find-program.ts'
import { NOBODY } from '../local/find-bubblewrap.ts'
import type { OuterLayer } from './outer-bubblewrap.ts'

const NAMESPACES = '--net --ipc --uts --pid --fork --kill-child'.split(' ')
/** The first process of a namespace cannot end itself by a signal, as the sandbox does. */
const SECOND_PROCESS = ['/bin/sh', '-c', '"$@"; exit $?', 'sandbridge']

/** The layers to try, strongest first; the last needs nothing. @param reason why bubblewrap cannot be used */
export function weakerLayers(node: string, bundle: string, reason: string, programs = findPrograms): OuterLayer[] {
  const isRoot = process.getuid?.() === 0 && process.platform === 'linux'
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
