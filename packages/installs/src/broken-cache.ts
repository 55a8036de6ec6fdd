// Recognises a package manager's cache that was left incomplete, and says how to repair it. Pure.
import type { InstallPlace } from './install-place.ts'
import type { PackageManager } from './package-launch.ts'

/** What Node, npm and a shell write when a part of a package is missing. */
const NPM_BROKEN =
  /Cannot find (package|module)|MODULE_NOT_FOUND|ENOTEMPTY|ECOMPROMISED|Lock compromised|Invalid package config|could not determine executable|: not found/
/** What Python and uv write then. */
const UV_BROKEN = /ModuleNotFoundError|ImportError|failed to (read|parse|open|deserialize)|No such file or directory/i
const NPX_FOLDER = /_npx[\\/]([\da-f]{16})\b/
const UV_CACHE = /[\\/](archive|environments|builds|wheels|sdists)-v\d+[\\/]/

/**
 * Undefined when the start failed for another reason.
 * @param stderrTail of a server that has exited
 * @returns a sentence, and what the user is to do
 */
export function brokenCache(
  manager: PackageManager,
  { cache, own }: Pick<InstallPlace, 'cache' | 'own'>,
  stderrTail: string,
): { text: string; remedy: string } | undefined {
  if (manager === 'npm' && NPM_BROKEN.test(stderrTail)) {
    const named = NPX_FOLDER.exec(stderrTail)?.[1]
    const folder = named === undefined ? own! : `${cache}/_npx/${named}`
    return {
      text: "npm's copy of the package seems to be incomplete.",
      remedy: `Remove this folder: ${folder}`,
    }
  }
  if (manager === 'uv' && UV_BROKEN.test(stderrTail) && UV_CACHE.test(stderrTail)) {
    // With a name, uv would keep the environment that it made for the package, and a dependency that is incomplete.
    const command = `uv cache clean --cache-dir ${/^[\w./~:\\-]+$/.test(cache) ? cache : `"${cache}"`}`
    return { text: "uv's copy of the package seems to be incomplete.", remedy: `Empty its cache: ${command}` }
  }
  return undefined
}
