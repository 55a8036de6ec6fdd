// Finds the folders in a file server's arguments, so that code knows which paths it can ask for. Other arguments may be secret.
import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import type { ServerDefinition } from './server-definition.ts'

const MAX_ROOTS = 8
const MAX_PATH = 200
/** Common flags for a folder to serve. Other flags may be about the server itself. */
const ROOT_FLAG = /^--?(?:root|repo|repository|path|paths|workspace|allow\w*|folder|vault)(?:[-_]?\w*)?$/i

/** @returns existing absolute folders, as written in the definition */
export function fileRoots({ transport }: ServerDefinition): string[] {
  if (transport.type !== 'stdio') return []
  const { args } = transport
  const found = args.flatMap((arg, index) => {
    const [flag, ...values] = arg.startsWith('-') ? arg.split('=') : [args[index - 1], arg]
    const isFlagged = flag?.startsWith('-') === true
    const value = values.join('=')
    return (!isFlagged || isRootFlag(flag)) && isFolder(value) ? [value] : []
  })
  return [...new Set(found)].slice(0, MAX_ROOTS)
}

/** `-y` of npx takes no value. */
function isRootFlag(flag: string): boolean {
  return flag === '-y' || flag === '--yes' || flag === '--' || ROOT_FLAG.test(flag)
}

function isFolder(text: string): boolean {
  if (text.length > MAX_PATH || !/^(?:[/\\]|~[/\\]|[A-Za-z]:[/\\])/.test(text)) return false
  const path = text.startsWith('~') ? homedir() + text.slice(1) : text
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
