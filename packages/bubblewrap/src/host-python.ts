// Finds a python3 of this machine for sandboxes: new enough, and readable by the sandbox's user.
import { homedir } from 'node:os'
import path from 'node:path'
import { findPrograms, runCommand } from '@sandbridge/core/util/process'
import { fieldsOf, parseJson } from '@sandbridge/core/util/json/json.ts'
import { lastLine } from '@sandbridge/core/util/text'
import type { RememberedAnswers } from './remembered-answers.ts'
import { isInside } from '@sandbridge/core/util/files'

export interface HostPython {
  executable: string
  /** Folders outside /usr that it needs: its own tree, that of its virtual environment, and those of libraries. */
  folders: string[]
  /** Where packages are installed for it. */
  packages: string[]
  /** Symbolic links outside of these folders that lead to it, with their targets. */
  links: [link: string, target: string][]
}

export interface HostPythons {
  /** Usable ones, in PATH order. */
  pythons: HostPython[]
  /** Why the others cannot be used. */
  reasons: string[]
}

/** Their libraries may lie in trees of their own, as Homebrew and Nix have them. */
const WITH_LIBRARIES = '_ssl _hashlib _sqlite3 _ctypes _bz2 _lzma zlib _decimal _uuid pyexpat _curses'

const ASK = `
import json, os, site, sys
for name in "${WITH_LIBRARIES}".split():
    try: __import__(name)
    except ImportError: pass
try: maps = open("/proc/self/maps").read()
except OSError: maps = ""
prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
path, hops = sys.executable, []
while os.path.islink(path) and len(hops) < 40:
    hops.append(path)
    path = os.path.join(os.path.realpath(os.path.dirname(path)), os.readlink(path))
    path = os.path.normpath(path)
print(json.dumps({
    "version": list(sys.version_info[:2]),
    "executable": sys.executable,
    "real": os.path.realpath(sys.executable),
    "hops": hops,
    "isVirtual": sys.prefix != sys.base_prefix,
    "folders": sorted(prefixes | {os.path.realpath(prefix) for prefix in prefixes}),
    "packages": sorted({os.path.realpath(place) for place in site.getsitepackages() if os.path.isdir(place)}),
    "libraries": sorted({line[line.index("/"):] for line in maps.splitlines() if ".so" in line and "/" in line}),
}))`

interface Answer {
  version: [number, number]
  executable: string
  /** Its file, with all links resolved. */
  real: string
  /** The links that lead there. */
  hops: string[]
  /** True for a Python of a virtual environment, which must be started by its name there. */
  isVirtual: boolean
  folders: string[]
  packages: string[]
  /** Files of the libraries that it has loaded. */
  libraries: string[]
}

/**
 * Returns every usable python3, in PATH order.
 * @param asUser command that becomes the sandbox's user; empty if that is the current user
 * @param answers remembered answers of earlier starts; missing: ask every Python
 */
export async function findHostPythons(asUser: readonly string[], answers?: RememberedAnswers): Promise<HostPythons> {
  const candidates = findPrograms('python3')
  if (candidates.length === 0) return { pythons: [], reasons: ['python3 is not installed'] }
  const pythons: HostPython[] = []
  const reasons: string[] = []
  // In parallel: the first cell waits for the answers, and a version manager's shim takes longer than Python.
  const asked = candidates.map(async (candidate) => {
    const words = [...asUser, candidate, '-I', '-c', ASK]
    const ask = () => runCommand(words[0]!, words.slice(1), { timeoutMs: 10_000 })
    const answer = await (answers ? answers.ask(JSON.stringify(words), candidate, ask, isLasting) : ask())
    return { candidate, ...answer }
  })
  for (const { candidate, code, stdout, stderr } of await Promise.all(asked)) {
    const answer = code === 0 ? parseAnswer(stdout) : undefined
    if (!answer)
      reasons.push(
        `${candidate} fails to run${asUser.length > 0 ? ' as an unprivileged user' : ''} (${lastLine(stderr) ?? 'no output'})`,
      )
    else if (answer.version[0] !== 3 || answer.version[1] < 10)
      reasons.push(`${candidate} is Python ${answer.version.join('.')}, 3.10 is needed`)
    else {
      const own = answer.folders.filter((folder) => !isInside('/usr', folder))
      const folders = [...own, ...libraryTrees(answer.libraries, own)]
      const tooMuch = folders.find(holdsTooMuch)
      if (tooMuch !== undefined) reasons.push(`${candidate} is installed in ${tooMuch}, which also holds other files`)
      else if (!isThere(answer.real, folders))
        reasons.push(`${candidate} is ${answer.real}, outside of the install folders that Python reports`)
      else pythons.push(asSeenInside(answer, folders))
    }
  }
  return { pythons, reasons }
}

/**
 * Links in PATH exist in the sandbox only inside its folders. A virtual environment needs its links; any other Python
 * is started by its file.
 */
function asSeenInside({ executable, real, hops, isVirtual, ...answer }: Answer, folders: string[]): HostPython {
  const packages = answer.packages.filter((place) => isThere(place, folders))
  if (!isVirtual) return { executable: real, folders, packages, links: [] }
  const outside = hops.filter((hop) => !isThere(hop, folders))
  return { executable, folders, packages, links: outside.map((hop) => [hop, real]) }
}

/**
 * Returns the folders of libraries that lie neither in a system's own nor in those of the Python: an entry of Nix's
 * store; what Homebrew has installed, since its libraries are found through links; else the folder of the file.
 */
export function libraryTrees(libraries: readonly string[], folders: readonly string[]): string[] {
  const known = ['/usr', '/lib', '/lib32', '/lib64', '/libx32', ...folders]
  const trees = libraries
    .filter((file) => !known.some((folder) => isInside(folder, file)))
    .flatMap((file) => {
      const [, store] = /^(\/nix\/store\/[^/]+)\//.exec(file) ?? []
      const [, brew] = /^(.+)\/Cellar\//.exec(file) ?? []
      if (brew !== undefined) return ['Cellar', 'opt', 'lib'].map((name) => `${brew}/${name}`)
      return [store ?? path.dirname(file)]
    })
  return [...new Set(trees)].filter((folder) => !holdsTooMuch(folder))
}

function isThere(file: string, folders: readonly string[]): boolean {
  return ['/usr', ...folders].some((folder) => isInside(folder, file))
}

/** True if a Python's tree is the whole disk or a home folder, and would expose all of that in the sandbox. */
export function holdsTooMuch(folder: string): boolean {
  return (
    isInside(folder, homedir()) ||
    isInside(folder, process.cwd()) ||
    /^\/(etc|home|root|run|var|tmp|proc|sys|dev)?\/?$/.test(folder)
  )
}

/** False for a virtual environment: other files than its Python determine what it reports. */
function isLasting(json: string): boolean {
  return parseAnswer(json)?.isVirtual === false
}

function parseAnswer(json: string): Answer | undefined {
  // What runs at Python's start may print before.
  const value: Partial<Answer> = fieldsOf(parseJson(lastLine(json) ?? ''))
  const { version, executable, real, hops, isVirtual = false, folders, packages = [], libraries = [] } = value
  const isWhole = Array.isArray(version) && Array.isArray(folders) && Array.isArray(hops)
  return isWhole && typeof executable === 'string' && typeof real === 'string'
    ? { version, executable, real, hops, isVirtual, folders, packages, libraries }
    : undefined
}
