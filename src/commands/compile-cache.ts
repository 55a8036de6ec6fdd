// Keeps what V8 has compiled of our own code for the next start, where Node can: a client has its list of tools sooner.
// Its content is executed, so the cache is used only in a folder that no other user can write to.
import { lstatSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { cacheFolder } from '../config/cache-folder.ts'
import { makePrivateFolderSync } from '../storage/private-folder.ts'

/** For what is imported from here on. Never throws: without a cache, a start takes what it takes on older versions of Node. */
export function keepCompiledCode(): void {
  // Since Node 22.8, whatever the types say.
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown }
  const user = process.getuid?.()
  if (enableCompileCache === undefined || user === undefined) return
  const context = { env: process.env, home: homedir(), platform: process.platform, isRoot: user === 0 }
  const folder = path.join(cacheFolder(context), 'code')
  try {
    makePrivateFolderSync(folder)
    const about = lstatSync(folder)
    if (about.isDirectory() && about.uid === user && (about.mode & 0o077) === 0) enableCompileCache(folder)
  } catch {
    // A disk that cannot be written to.
  }
}
