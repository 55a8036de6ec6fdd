// Which resident serves this process, and where it is.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type ClientContext, processContext, stateFolder } from '@sandbridge/core/config/settings'
import { readOrdinaryText } from '@sandbridge/core/util/files'
import { type ResidentKey, residentKey } from './resident-key.ts'
import { residentPlace, type ResidentPlace } from './reach/run-folder.ts'
import { SAYS_ON_OR_OFF } from './wants-resident.ts'

export async function ownResident(): Promise<{ context: ClientContext; key: ResidentKey; place: ResidentPlace }> {
  const context = processContext()
  const stateDir = stateFolder(context)
  // One in a comment counts, too: it only makes more of PATH count.
  const [runtime] = /"runtime"\s*:\s*"[^"]*kubernetes/i.exec(settingsText(stateDir)) ?? []
  const key = residentKey(context, runtime)
  return { context, key, place: residentPlace(stateDir, key.name) }
}

/** Whether settings.json switches it off, and no variable says otherwise. Parses no file without need. */
export async function isOffInFile({ env, home }: Pick<ClientContext, 'home' | 'env'>): Promise<boolean> {
  if (SAYS_ON_OR_OFF.test(env['MCP_BRIDGE_RESIDENT'] ?? '')) return false
  try {
    const text = settingsText(stateFolder({ env, home }))
    if (!/"resident"\s*:/.test(text)) return false
    const { parseJsonc } = await import('@sandbridge/core/config/formats/jsonc.ts')
    const parsed = parseJsonc(text)
    // The rest is not checked: it may have settings of features that are not loaded yet.
    const { resident } = ('value' in parsed ? parsed.value : {}) as { resident?: { mode?: unknown } }
    return String(resident?.mode).trim().toLowerCase() === 'off'
  } catch {
    // The resident says what is wrong with the file.
    return false
  }
}

/** Empty for a file that is missing or cannot be read: the resident says what is wrong with it. */
function settingsText(stateDir: string): string {
  const file = path.join(stateDir, 'settings.json')
  try {
    // Far faster than the next line's error. Windows tools write a mark, or UTF-16: read as UTF-8, with zero bytes.
    return existsSync(file) ? readOrdinaryText(file).replaceAll(/^(?:\uFEFF|\uFFFD+)|\0/g, '') : ''
  } catch {
    return ''
  }
}
