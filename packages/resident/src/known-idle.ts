// Which variables of a client count for no resident, because they change no setting. To read the settings takes a relay
// a third of its start, so what was found is kept for the next one with the same variables and files.
import path from 'node:path'
import { installation } from '@sandbridge/core/util'
import { look } from '@sandbridge/core/config'
import { cacheFolder, type ClientContext, keptPackagesFile } from '@sandbridge/core/config/settings'
import { keepText, readKeptText } from '@sandbridge/core/util/files'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import { textName } from '@sandbridge/core/util/text'

/** @param stateDir of the client. Never throws: variables that cannot be read all count. */
export async function knownIdle(
  context: Pick<ClientContext, 'env' | 'home'>,
  stateDir: string,
): Promise<ReadonlySet<string>> {
  const { env, home } = context
  const given = Object.entries(env).filter(([name, value]) => /^MCP_(?:BRIDGE|SERVERS)_/.test(name) && value?.trim())
  if (given.length === 0) return new Set()
  const files = [path.join(stateDir, 'settings.json'), keptPackagesFile(stateDir)].map((file) => [file, look(file)])
  // Values may be secrets. Whoever could make two names equal chooses the variables of a process of this user.
  const asked = textName(
    JSON.stringify([
      installation(),
      home,
      env['XDG_CACHE_HOME'],
      given.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      files,
    ]),
  )
  try {
    const kept = path.join(cacheFolder({ env: { ...env }, home }), 'idle-variables', `${asked}.json`)
    const known = parseJson(readKeptText(kept) ?? '')
    if (Array.isArray(known)) return new Set(known.map(String))
    const { idleVariables } = await import('./idle-variables.ts')
    const found = await idleVariables(context)
    keepText(kept, JSON.stringify(found))
    return new Set(found)
  } catch {
    return new Set()
  }
}
