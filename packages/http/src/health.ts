// Health checks without a token: whether the process is up, and accepts work. Nothing else is said.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from './refuse.ts'

export const HEALTH_PATHS = ['/healthz', '/readyz']

/** Wait after a search that found no sandbox. */
const SEARCH_AGAIN_MS = 10_000

interface HealthOptions {
  /** Chooses the provider. The first readiness check starts the search. */
  findProvider: () => Promise<unknown>
  isDraining: () => boolean
}

/** @param path one of HEALTH_PATHS */
export type AnswerHealth = (request: IncomingMessage, response: ServerResponse, path: string) => void

export function createHealth({ findProvider, isDraining }: HealthOptions): AnswerHealth {
  let hasProvider = false
  let maySearch = true

  function search(): void {
    if (!maySearch) return
    maySearch = false
    findProvider().then(
      () => (hasProvider = true),
      () => void setTimeout(() => (maySearch = true), SEARCH_AGAIN_MS).unref(),
    )
  }

  function isReady(): boolean {
    if (isDraining()) return false
    if (!hasProvider) search()
    return hasProvider
  }

  return (request, response, path) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return refuse(response, 405, 'Method not allowed')
    }
    const isGood = path === '/healthz' || isReady()
    response.writeHead(isGood ? 200 : 503, { 'content-type': 'text/plain', 'cache-control': 'no-store' })
    response.end(isGood ? 'ok\n' : 'not ready\n')
  }
}
