// What tests make in the folder for temporary files goes with the run: a bridge that a test kills leaves as much behind
// as any other.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const MADE = 'SANDBRIDGE_TEST_FOLDER'

/**
 * The path of a Unix domain socket has a hundred bytes, and homes of tests hold some: a longer TMPDIR, as that of
 * macOS, leaves no room.
 */
const MAX_CHARS = 24

function shortFolder(): string {
  // The full names of Windows too: as RUNNER~1, a folder has two paths, and the bridge shows the other one.
  const given = realpathSync.native(tmpdir())
  return given.length <= MAX_CHARS || process.platform === 'win32' ? given : realpathSync('/tmp')
}

/** Called for each project of a run, of which the first one makes it. */
export default function ownTemporaryFolder(): (() => Promise<void>) | undefined {
  if (process.env[MADE] !== undefined) return undefined
  const folder = mkdtempSync(path.join(shortFolder(), 't-'))
  // As the folder that it is in: some sandboxes run as another user.
  chmodSync(folder, 0o1777)
  for (const name of [MADE, 'TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder
  return () => remove(folder)
}

/** A resident bridge writes until it ends, some time after its last client. */
async function remove(folder: string, attempts = 30): Promise<void> {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (attempts === 0) throw error
    await sleep(500)
    await remove(folder, attempts - 1)
  }
}
