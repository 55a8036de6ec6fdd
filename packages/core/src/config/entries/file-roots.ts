// Finds the folders in a file server's arguments, for code to know. Other arguments may be secret, and those of a
// wrapper are about its walls: in doubt there are none.
import { statSync } from 'node:fs'
import { programName, runnerOf, runnerTarget } from './runner-words.ts'
import type { ServerDefinition } from './server-definition.ts'
import { orUndefined } from '../../util/or-undefined.ts'

const MAX_ROOTS = 3
const MAX_PATH = 200
/** Common flags for a folder to serve. Other flags may be about the server itself. */
const ROOT_FLAG = /^--?(?:root|repo|repository|path|paths|workspace|allow\w*|folder|vault)(?:[-_]?\w*)?$/i

/** Programs whose program is inside a script, or sees other folders. */
const OPAQUE = /^(docker|podman|nerdctl|kubectl|ssh|wsl|sh|bash|zsh|dash|fish|cmd|powershell|pwsh)$/
/** Programs that start another one behind options of their own. */
const WRAPPER =
  /^(bwrap|firejail|sandbox-exec|systemd-run|unshare|nsenter|chroot|env|sudo|doas|nice|ionice|nohup|timeout|stdbuf|xvfb-run)$/
const SYSTEM_FOLDER =
  /^(?:\/(?:(?:usr|s?bin|lib\w*|etc|proc|sys|dev|boot|run|nix|snap|System|Library)(?:\/.*)?|var|opt)?|[a-z]:[/\\](?:(?:Windows|Program Files[^/\\]*)(?:[/\\].*)?)?)$/i

/** @returns existing absolute folders, as written in the definition */
export function fileRoots({ transport }: ServerDefinition, home: string): string[] {
  if (transport.type !== 'stdio') return []
  const args = programArguments([transport.command, ...transport.args], home)
  const found = args.flatMap((arg, index) => {
    const [flag, ...values] = arg.startsWith('-') ? arg.split('=') : [args[index - 1], arg]
    const isFlagged = flag?.startsWith('-') === true
    const value = values.join('=')
    return (!isFlagged || isRootFlag(flag)) && isFolder(value, home) ? [value] : []
  })
  return [...new Set(found)].slice(0, MAX_ROOTS)
}

/** The arguments of the program at the end of a chain of wrappers and runners. */
function programArguments(words: readonly string[], home: string): readonly string[] {
  const [command = '', ...args] = words
  const name = programName(command)
  if (OPAQUE.test(name)) return []
  if (WRAPPER.test(name)) {
    const at = args.findIndex((word) => word === '--' || (isProgram(word) && !isFolder(word, home)))
    return at < 0 ? [] : programArguments(args.slice(args[at] === '--' ? at + 1 : at), home)
  }
  const runner = runnerOf(command)
  if (runner === undefined) return args
  const { program } = runnerTarget(runner, args)
  const [target] = program
  return target !== undefined && isProgram(target) ? programArguments(program, home) : program.slice(1)
}

function isProgram(word: string): boolean {
  return runnerOf(word) !== undefined || WRAPPER.test(programName(word)) || OPAQUE.test(programName(word))
}

function isRootFlag(flag: string): boolean {
  return flag === '--' || ROOT_FLAG.test(flag)
}

function isFolder(text: string, home: string): boolean {
  if (text.length > MAX_PATH || SYSTEM_FOLDER.test(text) || !/^(?:[/\\]|~[/\\]|[A-Za-z]:[/\\])/.test(text)) return false
  const path = text.startsWith('~') ? home + text.slice(1) : text
  return orUndefined(() => statSync(path).isDirectory()) === true
}
