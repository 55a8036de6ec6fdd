// Which resident serves this process, and where it is.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type ClientContext, processContext } from '../../config/settings/client-context.ts'
import { absolutePath } from '../../config/settings/setting-kinds.ts'
import { type ResidentKey, residentKey } from './resident-key.ts'
import { residentPlace, type ResidentPlace } from './run-folder.ts'
import { SAYS_ON_OR_OFF } from './wants-resident.ts'

export function ownResident(): { context: ClientContext; key: ResidentKey; place: ResidentPlace } {
  const context = processContext()
  const key = residentKey(context)
  return { context, key, place: residentPlace(stateFolder(context), key.name) }
}

/** As MCP_BRIDGE_STATE_DIR: all settings are read by the resident. */
function stateFolder({ home, env }: Pick<ClientContext, 'home' | 'env'>): string {
  const set = env['MCP_BRIDGE_STATE_DIR']?.trim()
  return set ? absolutePath(set, home) : path.join(home, 'MCPs')
}

/** Whether settings.json switches it off, and no variable says otherwise. Parses no file without need. */
export async function isOffInFile({ env, home }: Pick<ClientContext, 'home' | 'env'>): Promise<boolean> {
  if (SAYS_ON_OR_OFF.test(env['MCP_BRIDGE_RESIDENT'] ?? '')) return false
  try {
    const text = readFileSync(path.join(stateFolder({ env, home }), 'settings.json'), 'utf8')
    if (!/"resident"\s*:/.test(text)) return false
    const { loadSettings } = await import('../../config/settings/file/load-settings.ts')
    return (await loadSettings(env)).resident === 'off'
  } catch {
    // There is no such file, or the resident says what is wrong with it.
    return false
  }
}
