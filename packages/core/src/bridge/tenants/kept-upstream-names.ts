// Keeps the text about the configured servers for the next bridge that starts in this folder: it answers its client
// before it has read a config file. Read at start, so this file imports little.
import { hash } from 'node:crypto'
import path from 'node:path'
import { type ClientContext, variablesOfPlaces } from '../../config/settings/client-context.ts'
import type { Settings } from '../../config/settings/settings.ts'
import { areUnchanged, look } from '../../config/places-seen.ts'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { keepText, readKeptText } from '../../util/files/kept-text.ts'
import { isRecord, parseJson } from '../../util/json/json.ts'
import { VERSION } from '../../util/package-root.ts'
import { orUndefined } from '../../util/or-undefined.ts'

const MAX_CHARS = 1_000

/** What a client is told of the servers before one is started. */
export interface UpstreamNames {
  /** For the instructions: see `upstreamNames`. */
  text: string
  /** Some have tools that are listed to the client by themselves. */
  hasDirect: boolean
}

/** Undefined when nothing is kept, or a config file has changed since. */
export function readKeptNames(settings: Settings, context: ClientContext): UpstreamNames | undefined {
  const kept = parseJson(readKeptText(fileOf(settings, context)) ?? '')
  if (!isRecord(kept) || typeof kept['text'] !== 'string' || !isRecord(kept['places'])) return undefined
  const { text, places, hasDirect } = kept
  return text.length <= MAX_CHARS && areUnchanged(places) ? { text, hasDirect: hasDirect === true } : undefined
}

export function listsDirectly(servers: readonly Pick<ServerDefinition, 'direct'>[]): boolean {
  return servers.some(({ direct = false }) => direct !== false)
}

/** What the config files say, kept for the next start: read without a bridge, whose code takes long to load. */
export async function namesByConfig(settings: Settings, context: ClientContext): Promise<UpstreamNames | undefined> {
  try {
    const [{ Definitions }, { configuredServers }] = await Promise.all([
      import('../../config/definitions.ts'),
      import('../../calls/upstream-names.ts'),
    ])
    const definitions = new Definitions(settings, context)
    const { servers } = await definitions.read()
    const names = { text: configuredServers(servers), hasDirect: listsDirectly(servers) }
    keepNames(settings, context, names, definitions.places)
    return names
  } catch {
    // A mistake in a config file shows in the first cell.
    return undefined
  }
}

/**
 * Never throws: without it, the next start does not name the servers.
 * @param places see `Definitions.places`
 * @returns those places and the kept text's own: while they are unchanged, the text is what a start reads
 */
export function keepNames(
  settings: Settings,
  context: ClientContext,
  names: UpstreamNames,
  places: Readonly<Record<string, string>>,
): Record<string, string> {
  const file = fileOf(settings, context)
  // The folder of the cache is reported by others.
  orUndefined(() => keepText(file, JSON.stringify({ ...names, places })))
  return { ...places, [file]: look(file) }
}

/** By everything that chooses the config files. */
function fileOf(settings: Settings, { cwd, home, env }: ClientContext): string {
  const { cacheDir, stateDir, sources, profile, serversConfig, allowSelfServer, load } = settings
  const places = [cwd, home, stateDir, variablesOfPlaces(env)]
  const chosen = [VERSION, places, sources, profile, serversConfig, allowSelfServer, load]
  return path.join(cacheDir, 'upstream-names', `${hash('sha256', JSON.stringify(chosen)).slice(0, 32)}.json`)
}
