// Links that a jailed server may have made where it writes: its choice, so they open nothing at its next start.
import { readlink, realpath } from 'node:fs/promises'
import path from 'node:path'
import type { ServerSandbox } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { isInside } from '@sandbridge/core/util/files'

type Filesystem = NonNullable<ServerSandbox['filesystem']>

/** As many as Linux follows. */
const MAX_LINKS = 40

/**
 * What a definition opens and denies, without what the server has opened for itself.
 * @throws BridgeError CONFIG_INVALID for a denied place behind such a link: the server can replace it
 */
export async function withoutPlanted(filesystem: Filesystem): Promise<Filesystem> {
  const { allowRead = [], allowWrite = [], denyRead = [], denyWrite = [] } = filesystem
  const writable = await realFolders(allowWrite)
  for (const place of [...denyRead, ...denyWrite]) {
    const link = await plantedLink(place, writable)
    if (link === undefined) continue
    throw new BridgeError(
      'CONFIG_INVALID',
      `The sandbox of this server cannot protect ${place}: the server can replace the symbolic link ${link}.`,
      { hint: 'Name the place that the link leads to in denyRead or denyWrite.' },
    )
  }
  const opened = (named: readonly string[]): Promise<string[]> => withoutLinked(named, allowWrite)
  return { ...filesystem, allowRead: await opened(allowRead), allowWrite: await opened(allowWrite) }
}

/** Those of these places to which no link of a writable folder leads. */
export async function withoutLinked(named: readonly string[], allowWrite: readonly string[]): Promise<string[]> {
  const writable = await realFolders(allowWrite)
  const links = await Promise.all(named.map((place) => plantedLink(place, writable)))
  return named.filter((_, index) => links[index] === undefined)
}

function realFolders(folders: readonly string[]): Promise<string[]> {
  return Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)))
}

/** The first link on the way to a place that is in a writable folder. */
async function plantedLink(place: string, writable: readonly string[]): Promise<string | undefined> {
  if (writable.length === 0) return undefined
  const rest = path.resolve(place).split('/')
  // Without links.
  let at = '/'
  for (let links = 0; rest.length > 0 && links < MAX_LINKS;) {
    const next = path.join(at, rest.shift()!)
    const to = await readlink(next).catch(() => undefined)
    if (to === undefined) at = next
    else if (writable.some((folder) => folder !== next && isInside(folder, next))) return next
    else {
      links += 1
      rest.unshift(...to.split('/'))
      if (path.isAbsolute(to)) at = '/'
    }
  }
  return undefined
}
