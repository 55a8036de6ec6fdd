// Finds a Node for JavaScript cells: the bridge's own, or the first in PATH. Adds one file and its libraries.
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { findPrograms, runCommand } from '@sandbridge/core/util/process'
import type { SystemFiles } from './system-files.ts'

/** Its folder in the sandbox, wherever it is on this machine. */
const FOLDER = '/opt/node/bin'
const PRESENT = /^\/(usr|lib|lib32|lib64|libx32|bin)\//

/**
 * Adds a Node to the system; returns the system unchanged if none works.
 * @param works tells whether a program runs in a sandbox of this system
 */
export async function withNode(
  system: SystemFiles,
  works: (system: SystemFiles, program: string) => Promise<boolean>,
): Promise<SystemFiles> {
  for (const file of await candidates()) {
    const libraries = (await librariesOf(file)).filter((library) => !PRESENT.test(library))
    const binds = [file, ...libraries].flatMap((one) => ['--ro-bind', one, one === file ? `${FOLDER}/node` : one])
    const { PATH = '' } = system.environment
    const found = {
      ...system,
      binds: [...system.binds, ...binds],
      environment: { ...system.environment, PATH: `${FOLDER}:${PATH}` },
    }
    if (await works(found, `${FOLDER}/node`)) return found
  }
  return system
}

/** Excludes Bun and Electron, which may run the bridge but are not Node. */
async function candidates(): Promise<string[]> {
  const own = /^node(js)?$/.test(path.basename(process.execPath)) ? [process.execPath] : []
  const files = await Promise.all([...own, ...findPrograms('node')].map((file) => realpath(file).catch(() => file)))
  return [...new Set(files)]
}

async function librariesOf(file: string): Promise<string[]> {
  const { stdout } = await runCommand('ldd', [file], { timeoutMs: 5_000 })
  return [...stdout.matchAll(/=> (\/\S+) \(0x|^\s+(\/\S+) \(0x/gm)].map(([, found, loader]) => found ?? loader!)
}
