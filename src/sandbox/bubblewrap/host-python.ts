// Finds a python3 of this machine that can run in a sandbox: new enough, and readable by the user that the sandbox runs as.
import { homedir } from 'node:os'
import path from 'node:path'
import { runCommand } from '../../process/run-command.ts'
import type { CommandResult } from '../../process/run-command.ts'
import { findPrograms } from '../../process/find-program.ts'

export interface HostPython {
  executable: string
  /** Folders outside /usr that it needs: its own tree, and that of the virtual environment it belongs to. */
  folders: string[]
}

const ASK = `
import json, sys
print(json.dumps({
    "version": list(sys.version_info[:2]),
    "executable": sys.executable,
    "folders": sorted({sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}),
}))`

interface Answer {
  version: [number, number]
  executable: string
  folders: string[]
}

/**
 * The first usable python3, in the order of PATH.
 * @param asUser command that becomes the user that the sandbox runs as; empty when that is this user
 * @returns a python, or the reason why there is none
 */
export async function findHostPython(asUser: readonly string[]): Promise<HostPython | string> {
  const candidates = await findPrograms('python3')
  if (candidates.length === 0) return 'python3 is not installed'
  const reasons: string[] = []
  for (const candidate of candidates) {
    const { code, stdout, stderr } = await runWords([...asUser, candidate, '-I', '-c', ASK])
    const answer = code === 0 ? parseAnswer(stdout) : undefined
    if (!answer)
      reasons.push(
        `${candidate} does not run${asUser.length > 0 ? ' as an unprivileged user' : ''} (${lastLine(stderr)})`,
      )
    else if (answer.version[0] !== 3 || answer.version[1] < 10)
      reasons.push(`${candidate} is Python ${answer.version.join('.')}, 3.10 is needed`)
    else {
      const outside = answer.folders.filter((folder) => !isInside('/usr', folder))
      const tooMuch = outside.find(holdsTooMuch)
      if (tooMuch === undefined) return { executable: answer.executable, folders: outside }
      reasons.push(`${candidate} is installed in ${tooMuch}, which holds other things as well`)
    }
  }
  return reasons.join('; ')
}

/** A Python whose tree is the whole disk or a home folder would take all of that into the sandbox. */
export function holdsTooMuch(folder: string): boolean {
  return (
    isInside(folder, homedir()) ||
    isInside(folder, process.cwd()) ||
    /^\/(etc|home|root|run|var|tmp|proc|sys|dev)?\/?$/.test(folder)
  )
}

function isInside(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner)
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative))
}

function runWords([command = '', ...args]: readonly string[]): Promise<CommandResult> {
  return runCommand(command, args, { timeoutMs: 10_000 })
}

function parseAnswer(json: string): Answer | undefined {
  try {
    const value = JSON.parse(json) as Partial<Answer>
    const { version, executable, folders } = value
    return Array.isArray(version) && typeof executable === 'string' && Array.isArray(folders)
      ? { version, executable, folders }
      : undefined
  } catch {
    return undefined
  }
}

function lastLine(text: string): string {
  return text.split('\n').at(-1) ?? ''
}
