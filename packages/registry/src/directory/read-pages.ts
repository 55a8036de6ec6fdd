// Reads a registry's list of servers page by page: MCP Registry API v0.1, `GET /v0.1/servers`. All responses are
// limited in size. It follows no redirects and requests no other address.
import * as z from 'zod'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import { readAtMost } from '@sandbridge/shared/unpack/decoded.ts'
import { createHttpFetch } from '@sandbridge/remote/http-fetch.ts'
import { type ListedServer, parseListed } from '../server/server-json.ts'

const PAGE_SIZE = 100
const MAX_PAGE_BYTES = 8 << 20
const MAX_PAGES = 1_000
const PAGE_TIMEOUT_MS = 30_000
/** The longest wait that a registry may request. */
const MAX_RETRY_AFTER_S = 24 * 60 * 60

const page = z.object({
  servers: z.array(z.unknown()).max(1_000),
  metadata: z.object({ nextCursor: z.string().max(2_000).nullish() }).nullish(),
})

export interface PagesRequest {
  /** Without a trailing slash. */
  registry: string
  /** Only servers that changed since: an RFC 3339 time. */
  since?: string | undefined
  /** The ETag of the first page when it was last read. */
  etag?: string | undefined
  env: Record<string, string | undefined>
  signal?: AbortSignal | undefined
  onProgress?: ((count: number) => void) | undefined
}

/** Why a registry could not be read, and how long it asked clients to wait. */
export class RegistryFailure extends BridgeError {
  readonly retryAfterMs: number | undefined

  constructor(registry: string, problem: string, retryAfterMs?: number) {
    super('REGISTRY_UNREADABLE', `The registry ${registry} ${problem}`)
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Returns every server that changed since `since`; undefined when nothing changed (304).
 * @throws RegistryFailure
 */
export async function readPages(
  request: PagesRequest,
): Promise<{ listed: ListedServer[]; etag: string | undefined } | undefined> {
  const { registry, since, env, signal, onProgress } = request
  const http = createHttpFetch({ allowLinkLocal: false, env })
  const listed: ListedServer[] = []
  const cursors = new Set<string>()
  let etag: string | undefined
  let cursor: string | undefined
  try {
    for (let count = 0; ; count += 1) {
      if (count === MAX_PAGES) throw new RegistryFailure(registry, `has more than ${MAX_PAGES} pages`)
      const url = new URL(`${registry}/v0.1/servers`)
      url.searchParams.set('limit', String(PAGE_SIZE))
      url.searchParams.set('version', 'latest')
      if (since !== undefined) url.searchParams.set('updated_since', since)
      if (cursor !== undefined) url.searchParams.set('cursor', cursor)
      const known = count === 0 ? request.etag : undefined
      const answer = await readPage(registry, http.fetch, url, known, signal)
      if (answer === undefined) return undefined
      if (count === 0) etag = answer.etag
      for (const item of answer.page.servers) {
        const one = parseListed(item)
        if (one) listed.push(one)
      }
      onProgress?.(listed.length)
      cursor = answer.page.metadata?.nextCursor || undefined
      if (cursor === undefined) return { listed, etag }
      if (cursors.has(cursor)) throw new RegistryFailure(registry, 'returns the same page repeatedly')
      cursors.add(cursor)
    }
  } finally {
    http.close()
  }
}

/** Reads one JSON document. @throws RegistryFailure */
export async function readJson(address: string, env: Record<string, string | undefined>): Promise<unknown> {
  const http = createHttpFetch({ allowLinkLocal: false, env })
  try {
    const answer = await readAnswer(address, http.fetch, new URL(address), undefined, undefined)
    return parseJson(answer?.body ?? '')
  } finally {
    http.close()
  }
}

type Fetch = ReturnType<typeof createHttpFetch>['fetch']

async function readPage(...args: Parameters<typeof readAnswer>): Promise<ReadPage | undefined> {
  const answer = await readAnswer(...args)
  if (answer === undefined) return undefined
  const { body, etag } = answer
  const parsed = page.safeParse(parseJson(body))
  if (parsed.success) return { page: parsed.data, etag }
  const isHtml = /^\s*<(!doctype|html)/i.test(body)
  throw new RegistryFailure(args[0], isHtml ? 'returned a web page instead of a list' : 'returned an invalid list')
}

interface ReadPage {
  page: z.infer<typeof page>
  etag: string | undefined
}

/** Undefined when nothing changed since `etag` (304). */
async function readAnswer(
  registry: string,
  fetch: Fetch,
  url: URL,
  etag: string | undefined,
  signal: AbortSignal | undefined,
): Promise<{ body: string; etag: string | undefined } | undefined> {
  const limit = AbortSignal.any([AbortSignal.timeout(PAGE_TIMEOUT_MS), ...(signal ? [signal] : [])])
  let response: Response
  let body: string
  try {
    const headers = { accept: 'application/json', ...(etag !== undefined && { 'if-none-match': etag }) }
    response = await fetch(url, { headers, signal: limit })
    if (response.status === 304 && etag !== undefined) return undefined
    body = await readBody(response, registry)
  } catch (error) {
    if (error instanceof RegistryFailure) throw error
    if (signal?.aborted) throw new BridgeError('CANCELLED', 'Reading the registry was cancelled')
    const reason = limit.aborted ? `it sent nothing for ${PAGE_TIMEOUT_MS / 1000} s` : messageOf(error)
    throw new RegistryFailure(registry, `cannot be reached: ${reason}`)
  }
  const { status } = response
  if (status >= 300 && status < 400) throw new RegistryFailure(registry, 'redirects to another address')
  if (status !== 200) throw new RegistryFailure(registry, `answered with status ${status}`, retryAfter(response))
  return { body, etag: response.headers.get('etag') ?? undefined }
}

async function readBody(response: Response, registry: string): Promise<string> {
  if (response.status !== 200) {
    await response.body?.cancel()
    return ''
  }
  const tooLong = (): Error => new RegistryFailure(registry, `returned a page of more than ${MAX_PAGE_BYTES >> 20} MiB`)
  return (await readAtMost(response.body, MAX_PAGE_BYTES, tooLong)).toString()
}

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? NaN)
  return seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_S) * 1000 : undefined
}
