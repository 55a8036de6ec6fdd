// Reads a `server.json` from a file or a URL: a server that is not in a registry.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { readJson } from '../directory/read-pages.ts'
import type { FoundServer } from '../directory/registries.ts'
import { parseServerJson } from './server-json.ts'

/** @throws BridgeError REGISTRY_UNREADABLE, SERVER_REFUSED */
export async function readDocument(address: string, env: Record<string, string | undefined>): Promise<FoundServer> {
  return serverFromDocument(await readJson(address, env), address)
}

/** @param from where it was read. @throws BridgeError SERVER_REFUSED */
export function serverFromDocument(document: unknown, from: string): FoundServer {
  // A registry's response for one server wraps the document.
  const inner = (document as { server?: unknown } | null | undefined)?.server ?? document
  const server = parseServerJson(inner)
  if (!('reason' in server)) return { server, registry: from, verified: false, deprecated: false }
  throw new BridgeError('SERVER_REFUSED', `${from} is not a server.json: ${server.reason}`)
}
