// The path that still leads to a file, or its successor, after the next version of Node or of this package.
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { realpathOr } from '@sandbridge/core/util/process'

/**
 * Folders of one version: of nvm, fnm, asdf, mise, nodenv, Volta, Homebrew's Cellar, Nix, or an unpacked archive; a
 * revision of snap; what pnpm names by version and content; a link of fnm that exists only as long as a shell.
 */
const OF_ONE =
  /[/\\](?:[^/\\]*\d+\.\d+\.\d+[^/\\]*|snap[/\\][^/\\]+[/\\]\d+|\.pnpm|global[/\\]v\d+[/\\][^/\\]+|store[/\\]v\d+|fnm_multishells)[/\\]/

/** Programs that start the version that their manager has chosen: asdf, mise, nodenv, pyenv, proto, and Volta. */
const SHIM = /[/\\](?:shims|\.volta[/\\]bin|Volta)[/\\][^/\\]+$/

/** Links to a version that managers keep at another place than beside it, by the folder that has all versions. */
const ELSEWHERE: readonly [versions: RegExp, link: string][] = [
  [/[/\\]versions[/\\]node$/, '../../current'],
  [/[/\\]node-versions$/, '../aliases/default'],
  [/[/\\]\.?nvs[/\\]node$/, '../default'],
  [/[/\\]Cellar[/\\][^/\\]+$/, '../../opt/NAME'],
]

/** Whether a path is gone once its version is. */
export function isOfOneVersion(file: string): boolean {
  return OF_ONE.test(file)
}

/**
 * A path that starts the running Node, or lets its version manager choose one, and that does not name a version; the
 * path of the Node itself where there is none.
 * @param running the path of the running Node
 * @param onPath the paths of all Nodes on the PATH, in its order
 */
export function stableNode(running: string, onPath: readonly string[]): string {
  if (!isOfOneVersion(running)) return running
  // On Windows, `running` is the path of a link; elsewhere, of the file.
  const node = realpathOr(running)
  const isSame = (file: string): boolean => !isOfOneVersion(file) && realpathOr(file) === node
  return onPath.find(isSame) ?? linkTo(node) ?? [...onPath, ...shimsOf(node)].find(isShim) ?? node
}

/** The same for another file. @param node the running Node and its stable path: npm's packages are beside both */
export function stablePath(file: string, node?: { running: string; stable: string }): string {
  if (!isOfOneVersion(file)) return file
  const [from, to] = node ? [node.running, node.stable].map((one) => path.resolve(one, '../../..')) : []
  const moved = from && to && file.startsWith(from + path.sep) ? path.join(to, file.slice(from.length)) : file
  return [moved].find((one) => !isOfOneVersion(one) && realpathOr(one) === realpathOr(file)) ?? linkTo(file) ?? file
}

export function isShim(file: string): boolean {
  return SHIM.test(file) && existsSync(file)
}

/** A program that starts the version that a manager has chosen, of the same manager as this Node. */
function shimsOf(node: string): string[] {
  const manager = /^.*?[/\\](?:mise|\.asdf|\.nodenv|\.proto|\.volta)(?=[/\\])/.exec(node)?.[0]
  return manager === undefined ? [] : ['shims', 'bin'].map((folder) => path.join(manager, folder, path.basename(node)))
}

/** The same file under a link that a manager keeps to the folder of its version. */
function linkTo(file: string): string | undefined {
  const words = file.split(/[/\\]/)
  for (let end = words.length - 1; end > 1; end--) {
    const folder = words.slice(0, end).join(path.sep)
    const rest = words.slice(end + 1)
    const links = words[end] === '.pnpm' ? linksOfPnpm(folder) : linksBeside(folder, words[end]!)
    for (const link of links)
      // Below it, managers have folders of the architecture, or `installation`, which the link may lead into.
      for (const tail of words[end] === '.pnpm'
        ? [rest.slice(rest.lastIndexOf('node_modules') + 1)]
        : [rest, rest.slice(1)]) {
        const candidate = path.join(link, ...tail)
        if (!isOfOneVersion(candidate) && realpathOr(candidate) === realpathOr(file)) return candidate
      }
  }
  return undefined
}

/** The packages that a user has named are linked by their names. */
const linksOfPnpm = (folder: string): string[] => [folder, path.join(folder, 'node_modules')]

function linksBeside(folder: string, version: string): string[] {
  if (!/\d/.test(version)) return []
  const elsewhere = ELSEWHERE.flatMap(([versions, link]) =>
    versions.test(folder) ? path.join(folder, link.replace('NAME', path.basename(folder))) : [],
  )
  let names: string[] = []
  try {
    names = readdirSync(folder).filter((name) => lstatSync(path.join(folder, name)).isSymbolicLink())
  } catch {
    // It may not be listed.
  }
  // `22` before `latest`: the next major version may run no longer what is installed.
  const order = (name: string): number => ['current', 'default'].indexOf(name) + (/^v?\d+$/.test(name) ? 1 : 3)
  const beside = names.toSorted((a, b) => order(a) - order(b)).map((name) => path.join(folder, name))
  return [...elsewhere, ...beside]
}
