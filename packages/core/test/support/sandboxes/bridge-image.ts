// The bridge's image, built offline on the tests' Node image.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { ROOT } from '../bridges/bridge-process.ts'
import { NODE_IMAGE } from './engines.ts'

export function docker(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`docker ${args[0]}: ${stderr}`)
  return stdout.trim()
}

/** Builds from the current dist/. The caller removes it. */
export function buildBridgeImage(name: string): void {
  const file = path.join(ROOT, 'packages/containers/images/Containerfile.bridge')
  const options = ['--quiet', '--network=none', '--build-arg', `NODE=${NODE_IMAGE}`, '--file', file, '--tag', name]
  docker('build', ...options, ROOT)
}
