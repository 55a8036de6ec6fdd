// Checks names from sandboxes that become folder names on any system. Pure.
import { BridgeError } from '../../errors.ts'
import { hash } from 'node:crypto'
import path from 'node:path'

const MAX_NAME_CHARS = 128
/** Common file systems allow 255 bytes, and one character takes up to four. */
const MAX_NAME_BYTES = 200
/** Device names, with any extension: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|$)/i

/**
 * Returns the name in NFC, so that two names that look alike are the same.
 * @param what noun for the message: `an artifact`
 * @throws BridgeError STATE_REFUSED that says what is wrong with the name
 */
export function checkStoredName(name: string, what: string): string {
  const normal = name.normalize('NFC')
  const problem = problemOf(normal)
  if (problem === undefined) return normal
  const shown = normal.length > 60 ? `${normal.slice(0, 60)}…` : normal
  throw new BridgeError('STATE_REFUSED', `${JSON.stringify(shown)} is not a valid name for ${what}: ${problem}`, {
    hint: `Use a plain file name of at most ${MAX_NAME_CHARS} characters, such as report-2.csv.`,
  })
}

/** On some systems both names are the same folder. @throws BridgeError STATE_REFUSED */
export function refuseOtherCase(name: string, known: Iterable<string>): void {
  const other = [...known].find((one) => one !== name && one.toLowerCase() === name.toLowerCase())
  if (other === undefined) return
  throw new BridgeError('STATE_REFUSED', `'${other}' already exists and differs from '${name}' only in case`, {
    hint: `Use '${other}' or another name.`,
  })
}

/** True if a folder can have this name. */
export function isStoredName(name: string): boolean {
  return problemOf(name) === undefined
}

/** True if it can be part of a path below our folders: a stored name, or one that begins with a dot. */
export function isPathPart(part: string): boolean {
  return problemOf(part, true) === undefined
}

function problemOf(name: string, mayBeHidden = false): string | undefined {
  if (name.trim() === '') return 'it is empty'
  if (name.length > MAX_NAME_CHARS || Buffer.byteLength(name) > MAX_NAME_BYTES)
    return `it is too long (${name.length} characters)`
  if (/[/\\]/.test(name)) return 'it has a path separator'
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) return 'it has a control character'
  if (/[:*?"<>|]/.test(name)) return 'it has one of : * ? " < > |'
  if (name.startsWith('.') && !mayBeHidden) return 'it begins with a dot'
  if (/^\s|[\s.]$/.test(name)) return 'it begins or ends with a space, or ends with a dot'
  if (WINDOWS_DEVICE.test(name)) return 'Windows reserves it for a device'
  return undefined
}

/** Names that `sandbridge token` issues. No other user's folder has such a name. */
const TOKEN_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/
const MAX_READABLE = 40

export function usersFolder(root: string): string {
  return path.join(root, 'users')
}

/** One user's folder: a hash makes it unique, whatever the name contains. @param user missing: the whole folder */
export function userFolder(root: string, user: string | undefined): string {
  return user === undefined ? root : path.join(usersFolder(root), folderName(user))
}

function folderName(user: string): string {
  if (TOKEN_NAME.test(user)) return user
  const subject = user.slice(user.indexOf('#') + 1).toLowerCase()
  const readable = subject.replaceAll(/[^a-z0-9]+/g, '-').slice(0, MAX_READABLE)
  return `@${readable}-${hash('sha256', user).slice(0, 32)}`
}
