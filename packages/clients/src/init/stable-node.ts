// Chooses the path of Node that `sandbridge init` writes into clients' files: one that still works when the user
// installs another Node.
import { realpath } from 'node:fs/promises'

/** A folder of one version: of nvm, fnm, asdf, mise, nodenv, Volta, Homebrew's Cellar, Nix, or an unpacked archive. */
const VERSION_FOLDER = /[/\\][^/\\]*\d+\.\d+\.\d+[^/\\]*[/\\]/

/** Programs that start the version that their manager has chosen: those of asdf, mise and nodenv, and of Volta. */
const SHIM = /[/\\](shims|\.volta[/\\]bin)[/\\]/

/** A link of fnm that exists only as long as a shell. */
const ONE_SHELL = /fnm_multishells/

/** Whether a path is gone once its version of Node is removed. */
export function isOfOneVersion(file: string): boolean {
  return VERSION_FOLDER.test(file)
}

/**
 * The first path on the PATH that starts this Node, or lets its version manager choose one, and that does not name a
 * version. Without one, `node` itself: a plain `node` would not start in a client that the desktop has started, whose
 * PATH lacks version managers.
 *
 * @param running the path of the running Node
 * @param onPath the paths of all Nodes on the PATH, in its order
 */
export async function stableNode(running: string, onPath: readonly string[]): Promise<string> {
  // Windows tells the link, and other systems the file.
  const node = ONE_SHELL.test(running) ? await realpath(running).catch(() => running) : running
  if (!isOfOneVersion(node)) return node
  for (const candidate of onPath) {
    if (isOfOneVersion(candidate) || ONE_SHELL.test(candidate)) continue
    if (SHIM.test(candidate) || (await realpath(candidate).catch(() => undefined)) === node) return candidate
  }
  return node
}
