// The time zone of a schedule: the one that is named, or that of this machine.
import { realpathSync } from 'node:fs'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { didYouMean } from '@sandbridge/core/util/text'

const MAX_NAMED = 3

/** As written, where that is the name of a zone. @throws BridgeError TOOL_ARGUMENTS_INVALID that names near zones */
export function namedZone(given: string): string {
  const known = knownZone(given)
  // Another name of a zone is shown as its user writes it.
  if (known !== undefined) return known.toLowerCase() === given.toLowerCase() ? known : given
  const near = zonesLike(given)
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'For example: Europe/Berlin, or UTC.'
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `There is no time zone '${given.slice(0, 80)}'`, { hint })
}

/**
 * Node has no name for the zone of a machine whose clock is set by a file, as with TZ=:/etc/localtime or on NixOS.
 * @returns the zone, or UTC and why
 */
export function machineZone(env = process.env): { zone: string; note?: string } {
  const own = knownZone(Intl.DateTimeFormat().resolvedOptions().timeZone)
  if (own !== undefined) return { zone: own }
  // In POSIX, a colon begins a name that the system explains, and a variable without text is UTC.
  const given = env['TZ']?.replace(/^:/, '')
  if (given === '') return { zone: 'UTC' }
  const found = [given ?? '', given?.startsWith('/') ? given : '/etc/localtime'].map((one) => {
    const file = one.startsWith('/') ? realPath(one) : one
    return knownZone(file.replace(/^.*\/zoneinfo\/((posix|right)\/)?/, ''))
  })
  const zone = found.find((one) => one !== undefined)
  if (zone !== undefined) return { zone }
  return {
    zone: 'UTC',
    note: 'The time zone of this machine has no name, so this is in UTC. Name another with --zone.',
  }
}

/** How Node writes it; undefined for what it does not know, or knows only as an offset. */
function knownZone(zone: string | undefined): string | undefined {
  if (zone === undefined || !/^[a-z]/i.test(zone) || /^etc\/unknown$/i.test(zone)) return undefined
  try {
    return Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/** Zones that a city or a misspelt name may stand for. */
function zonesLike(given: string): string[] {
  const zones = Intl.supportedValuesOf('timeZone')
  const city = given.trim().replaceAll(' ', '_').toLowerCase()
  const inCity = zones.filter((zone) => zone.toLowerCase().endsWith(`/${city}`))
  return (inCity.length > 0 ? inCity : didYouMean(given, zones)).slice(0, MAX_NAMED)
}

function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
