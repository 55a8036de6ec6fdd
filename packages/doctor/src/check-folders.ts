// Checks that the bridge's folders are writable and readable only by their owner, and that the clock is right.
import { access, chmod, constants, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Settings } from '@sandbridge/core/config/settings'
import { findDamagedSnapshot } from '@sandbridge/core/isolation/detect'
import { PACKAGE_ROOT } from '@sandbridge/core/util'
import type { Finding } from '@sandbridge/core/serve/cli'

const OTHERS = 0o077

export async function checkFolders({ stateDir, cacheDir }: Settings): Promise<Finding[]> {
  const places = [
    ['MCP_BRIDGE_STATE_DIR', stateDir],
    ['MCP_BRIDGE_CACHE_DIR', cacheDir],
  ] as const
  const rights = await Promise.all(places.map(([variable, folder]) => checkWritable(variable, folder)))
  return [...rights.flat(), ...(await checkPrivate(path.join(stateDir, '.sandbridge')))]
}

/** A missing folder is created when it is needed. */
async function checkWritable(variable: string, folder: string): Promise<Finding[]> {
  const code = await access(folder, constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? 'an error',
  )
  if (code === undefined || code === 'ENOENT') return []
  const advice = `Make ${folder} writable, or set ${variable} to another folder.`
  return [{ check: 'folders', level: 'broken', message: `${folder} cannot be written to (${code}).`, advice }]
}

async function checkPrivate(folder: string): Promise<Finding[]> {
  if (process.platform === 'win32') return []
  const names = await readdir(folder).catch(() => [])
  const files = [folder, ...names.map((name) => path.join(folder, name))]
  const found = await Promise.all(
    files.map(async (file): Promise<Finding[]> => {
      const about = await stat(file).catch(() => undefined)
      if (!about || (about.mode & OTHERS) === 0 || about.isSocket()) return []
      const mode = about.isDirectory() ? 0o700 : 0o600
      const message = `Other users of this machine may look into ${file}.`
      const advice = `chmod ${mode.toString(8)} ${file}`
      return [{ check: 'folders', level: 'warning', message, advice, fix: () => chmod(file, mode) }]
    }),
  )
  // In a folder that only its owner can enter, the permissions of files do not matter.
  return found[0]?.length === 0 ? [] : found.flat()
}

/** Run before any cell: the embedded sandbox replaces a damaged snapshot. */
export async function checkSnapshot(settings: Settings): Promise<Finding[]> {
  const folder = await findDamagedSnapshot(settings)
  if (folder === undefined) return []
  const message = `The snapshot of the embedded sandbox is damaged: ${folder}.`
  const advice = 'It is made anew at the next start of that sandbox. If it is damaged again, check the disk.'
  return [{ check: 'snapshot', level: 'warning', message, advice }]
}

/** A slow clock makes expired tokens look valid and disorders the record. */
export async function checkClock(now = Date.now()): Promise<Finding[]> {
  const { mtimeMs } = await stat(path.join(PACKAGE_ROOT, 'package.json'))
  if (now >= mtimeMs - 86_400_000) return []
  const message = `The clock says ${new Date(now).toISOString()}, which is before this version was installed.`
  return [{ check: 'clock', level: 'warning', message, advice: 'Set the clock of this machine.' }]
}
