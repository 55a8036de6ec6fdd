// Where what belongs to one user of a bridge is kept: rules, artifacts, memories, projects and saved tools, apart from those of the others. Pure.
import { createHash } from 'node:crypto'
import path from 'node:path'

/** A name that `sandbridge token` gives: nothing else is a folder of that name. */
const TOKEN_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/
const MAX_READABLE = 40

/** The folder of all users. */
export function usersFolder(root: string): string {
  return path.join(root, 'users')
}

/**
 * One user's folder. Names of authorization servers can hold anything, so a hash of them tells one from another, and letters tell a reader.
 * @param user missing means the holder of the bridge's own token, who has the whole folder
 */
export function userFolder(root: string, user: string | undefined): string {
  return user === undefined ? root : path.join(usersFolder(root), folderName(user))
}

function folderName(user: string): string {
  if (TOKEN_NAME.test(user)) return user
  const subject = user.slice(user.indexOf('#') + 1).toLowerCase()
  const readable = subject.replaceAll(/[^a-z0-9]+/g, '-').slice(0, MAX_READABLE)
  return `@${readable}-${createHash('sha256').update(user).digest('hex').slice(0, 32)}`
}
