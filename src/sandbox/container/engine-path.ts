// How an engine that lives in a virtual machine sees the paths of this machine. Pure.
import type { Engine } from './probe-engine.ts'

/** A path as the engine sees it: Podman on Windows reads the profile inside its machine, where drives are under /mnt. */
export function enginePath(file: string, engine: Engine, platform: NodeJS.Platform = process.platform): string {
  const drive = /^([A-Za-z]):[\\/](.*)$/s.exec(file)
  if (platform !== 'win32' || engine.dialect !== 'podman' || !drive) return file
  return `/mnt/${drive[1]!.toLowerCase()}/${drive[2]!.replaceAll('\\', '/')}`
}
