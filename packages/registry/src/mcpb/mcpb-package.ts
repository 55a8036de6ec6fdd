// Downloads an MCPB file and unpacks it to a folder of its own: limited in size, only with the SHA-256 that the
// registry states, and only regular files below that folder. Runs none of it.
import { hash, randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { makePrivateFolder } from '@sandbridge/core/util/files'
import { isLoopbackUrl } from '@sandbridge/core/util/net'
import { readAtMost } from '@sandbridge/shared/unpack/decoded.ts'
import { isSafeName, zipEntries } from '@sandbridge/shared/unpack/zip-archive.ts'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import { createHttpFetch } from '@sandbridge/remote/http-fetch.ts'
import { type McpbManifest, type McpbPlace, parseManifest } from './mcpb-manifest.ts'
import { refused } from '../server/refused.ts'
import type { ServerJson } from '../server/server-json.ts'

const MAX_FILE_BYTES = 256 << 20
const MAX_UNPACKED_BYTES = 1 << 30
const MAX_FILES = 50_000
const MAX_REDIRECTS = 5
const DOWNLOAD_TIMEOUT_MS = 300_000
const MANIFEST = 'manifest.json'

export interface UnpackedPackage extends McpbPlace {
  manifest: McpbManifest
}

interface FetchOptions {
  /** The folder in which it is unpacked. */
  parent: string
  env: Record<string, string | undefined>
}

/** @throws BridgeError SERVER_REFUSED with the problem; nothing is left of the file then */
export async function unpackMcpb(
  { identifier, fileSha256 = '' }: Pick<ServerJson['packages'][number], 'identifier' | 'fileSha256'>,
  { parent, env }: FetchOptions,
): Promise<UnpackedPackage> {
  const wanted = fileSha256.toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(wanted)) throw refused('the registry does not name the SHA-256 of its file')
  const file = await download(identifier, env)
  const sha256 = hash('sha256', file)
  if (sha256 !== wanted) throw refused(`its file has another SHA-256 than the registry says: ${sha256}`)
  makePrivateFolder(parent)
  // Each unpacking gets a new folder: an existing one with the same content may be in use.
  const folder = path.join(parent, `${sha256.slice(0, 16)}-${randomBytes(3).toString('hex')}`)
  try {
    return { folder, manifest: await unpack(file, folder), home: homedir(), platform: process.platform }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function unpack(file: Buffer, folder: string): Promise<McpbManifest> {
  const seen = new Set<string>()
  let manifest: McpbManifest | undefined
  // Readable inside a folder that is closed to other users; a jailed server of root's runs as another user.
  await mkdir(folder, { mode: 0o755 })
  try {
    for await (const { name, mode, data } of zipEntries(file, MAX_UNPACKED_BYTES)) {
      const kind = mode & 0o170000
      if (kind !== 0 && kind !== 0o100000) throw new Error(`it has an entry that is not a plain file: ${shown(name)}`)
      if (name.length > 1_000 || !isSafeName(name)) throw new Error(`it has a file outside its folder: ${shown(name)}`)
      // Some systems treat these names as the same file.
      const key = name.normalize('NFC').toLowerCase()
      if (seen.has(key)) throw new Error(`it has two files of one name: ${shown(name)}`)
      if (seen.size >= MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`)
      seen.add(key)
      if (name === MANIFEST) manifest = parseManifest(parseJson(data.toString()))
      const target = path.join(folder, ...name.split('/'))
      await mkdir(path.dirname(target), { recursive: true, mode: 0o755 })
      await writeFile(target, data, { flag: 'wx', mode: (mode & 0o100) === 0 ? 0o644 : 0o755 })
    }
  } catch (error) {
    if (BridgeError.isInstance(error)) throw error
    throw refused(`its file cannot be unpacked: ${messageOf(error)}`)
  }
  if (!manifest) throw refused('its file has no manifest.json')
  return manifest
}

/**
 * Follows redirects, because the hash verifies the content: to https only, unless the first address is on loopback, and
 * never to a link-local address.
 */
async function download(address: string, env: Record<string, string | undefined>): Promise<Buffer> {
  const http = createHttpFetch({ allowLinkLocal: false, files: true, env })
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)
  const isLocal = isLoopbackUrl(address)
  try {
    let url = address
    for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
      if (!URL.canParse(url) || (new URL(url).protocol !== 'https:' && !(isLocal && isLoopbackUrl(url))))
        throw refused(`its file is not at an https address: ${shown(url)}`)
      const response = await http.fetch(url, { signal }).catch((error: unknown) => {
        throw refused(`its file cannot be fetched: ${messageOf(error)}`)
      })
      const next = response.headers.get('location')
      if (response.status < 300 || response.status >= 400 || next === null) return await bodyOf(response)
      await response.body?.cancel()
      if (!URL.canParse(next, url)) throw refused('its file has an invalid address')
      url = new URL(next, url).href
    }
    throw refused(`its file is behind more than ${MAX_REDIRECTS} redirects`)
  } finally {
    http.close()
  }
}

async function bodyOf(response: Response): Promise<Buffer> {
  if (response.status !== 200) {
    await response.body?.cancel()
    throw refused(`its file cannot be fetched: the address answered with status ${response.status}`)
  }
  const tooLong = (): Error => new Error(`it is larger than ${MAX_FILE_BYTES >> 20} MiB`)
  return readAtMost(response.body, MAX_FILE_BYTES, tooLong).catch((error: unknown) => {
    throw refused(`its file cannot be fetched: ${messageOf(error)}`)
  })
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}
