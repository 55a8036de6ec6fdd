// Names the folders that keep each user's rules, artifacts, memories, projects and saved tools apart. Pure.
import { hash } from 'node:crypto'
import path from 'node:path'

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
