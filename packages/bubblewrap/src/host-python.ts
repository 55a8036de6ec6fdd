// Finds a python3 of this machine for sandboxes: new enough, and readable by the sandbox's user.
import { homedir } from 'node:os'
import { runCommand } from '@sandbridge/core/util/process/run-command.ts'
import type { CommandResult } from '@sandbridge/core/util/process/run-command.ts'
import { findPrograms } from '@sandbridge/core/util/process/find-program.ts'
import { lastLine } from '@sandbridge/core/util/text/one-line.ts'
import type { RememberedAnswers } from './remembered-answers.ts'
import { isInside } from '@sandbridge/core/util/files/is-inside.ts'

export interface HostPython {
  executable: string
  /** Folders outside /usr that it needs: its own tree, and that of its virtual environment. */
  folders: string[]
  /** Symbolic links outside of these folders that lead to it, with their targets. */
  links: [link: string, target: string][]
}

export interface HostPythons {
  /** Usable ones, in PATH order. */
  pythons: HostPython[]
  /** Why the others cannot be used. */
  reasons: string[]
}

const ASK = `
import json, os, sys
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
    const ask = () => runWords(words)
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
      const folders = answer.folders.filter((folder) => !isInside('/usr', folder))
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
function asSeenInside({ executable, real, hops, isVirtual }: Answer, folders: string[]): HostPython {
  if (!isVirtual) return { executable: real, folders, links: [] }
  const outside = hops.filter((hop) => !isThere(hop, folders))
  return { executable, folders, links: outside.map((hop) => [hop, real]) }
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

function runWords([command = '', ...args]: readonly string[]): Promise<CommandResult> {
  return runCommand(command, args, { timeoutMs: 10_000 })
}

/** False for a virtual environment: other files than its Python determine what it reports. */
function isLasting(json: string): boolean {
  return parseAnswer(json)?.isVirtual === false
}

function parseAnswer(json: string): Answer | undefined {
  try {
    const value = JSON.parse(json) as Partial<Answer>
    const { version, executable, real, hops, isVirtual = false, folders } = value
    const isWhole = Array.isArray(version) && Array.isArray(folders) && Array.isArray(hops)
    return isWhole && typeof executable === 'string' && typeof real === 'string'
      ? { version, executable, real, hops, isVirtual, folders }
      : undefined
  } catch {
    return undefined
  }
}
