// Reads a JSON document of an authorization server: complete, limited in size, without following redirects.
import { isLoopback } from '@sandbridge/core/util/net'
import { readAtMost } from '@sandbridge/core/util/bytes'

/** Far above the size of a key set with certificates. */
const MAX_BYTES = 512 * 1024

/**
 * @param address https, or http on this machine
 * @throws Error that describes the response it got instead
 */
export async function fetchJson(address: string, signal: AbortSignal): Promise<unknown> {
  if (!isAuthorizationAddress(address)) throw new Error('it names an address that is neither https nor on this machine')
  const response = await fetch(address, { signal, redirect: 'error', headers: { accept: 'application/json' } })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`it answered with HTTP ${response.status}`)
  }
  const tooLong = (): Error => new Error(`its answer is larger than ${MAX_BYTES / 1024} KiB`)
  const body = await readAtMost(response.body, MAX_BYTES, tooLong)
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new Error('its answer is not JSON')
  }
}

/**
 * Whether keys and metadata may be read from this address: https or this machine, so that no other host can answer in
 * its place.
 */
function isAuthorizationAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
