// Ranks tools by meaning with an OpenAI-compatible embedding endpoint (`/v1/embeddings`) of the user's choice.
// Optional: a slow or broken endpoint costs a bounded wait, and the search by words goes on alone. It sends names and
// descriptions of tools, and the query. The endpoint's URL and key are secrets and are never shown.
import type { Log } from '../../util/log.ts'
import { untilAborted } from '../../util/async/wait.ts'
import { isRecord } from '../../util/json/json.ts'

export interface EmbeddingsOptions {
  /** The endpoint's URL, including `/v1/embeddings`. */
  url: string
  model?: string
  apiKey?: string
  /** Longest wait per search, in milliseconds. */
  timeoutMs?: number
  log?: Log
}

const BATCH = 64
const TEXT_LIMIT = 600
const MAX_VECTORS = 20_000
const BATCH_TIME_LIMIT_MS = 30_000
/** Pause after a failure. */
const PAUSE_MS = 60_000
export class Embeddings {
  readonly #options: EmbeddingsOptions
  readonly #vectors = new Map<string, Float32Array>()
  #filling: Promise<void> | undefined
  #pausedUntil = 0

  constructor(options: EmbeddingsOptions) {
    this.#options = options
  }

  /**
   * Similarity of the query and each of `items`, from -1 to 1. An item whose vector did not arrive in time gets the
   * mean. Undefined when the endpoint does not help.
   */
  async likeness<T>(
    query: string,
    items: readonly T[],
    textOf: (item: T) => string,
    signal?: AbortSignal,
  ): Promise<Map<T, number> | undefined> {
    if (items.length === 0 || query.trim() === '' || performance.now() < this.#pausedUntil) return undefined
    const limit = AbortSignal.timeout(this.#options.timeoutMs ?? 1500)
    const bound = signal === undefined ? limit : AbortSignal.any([limit, signal])
    const texts = items.map((item) => textOf(item).slice(0, TEXT_LIMIT))
    try {
      this.#filling ??= this.#fill(texts).finally(() => (this.#filling = undefined))
      const [wanted] = await this.#embed([query.slice(0, TEXT_LIMIT)], bound)
      await untilAborted(this.#filling, bound).catch((error: unknown) => {
        if (!bound.aborted) throw error
      })
      if (wanted === undefined) return undefined
      const cosines = texts.map((text) => {
        const vector = this.#vectors.get(text)
        return vector === undefined || vector.length !== wanted.length ? undefined : dot(wanted, vector)
      })
      const known = cosines.filter((cosine) => cosine !== undefined)
      if (known.length === 0) return undefined
      const middle = known.reduce((sum, cosine) => sum + cosine, 0) / known.length
      return new Map(items.map((item, index) => [item, cosines[index] ?? middle]))
    } catch {
      this.#pause()
      return undefined
    }
  }

  /** Fetches missing vectors. Continues after the search that started it. */
  async #fill(texts: string[]): Promise<void> {
    const missing = [...new Set(texts)].filter((text) => !this.#vectors.has(text)).slice(0, MAX_VECTORS)
    if (this.#vectors.size + missing.length > MAX_VECTORS) this.#vectors.clear()
    try {
      for (let at = 0; at < missing.length; at += BATCH) {
        const batch = missing.slice(at, at + BATCH)
        const vectors = await this.#embed(batch, AbortSignal.timeout(BATCH_TIME_LIMIT_MS))
        for (const [index, vector] of vectors.entries()) this.#vectors.set(batch[index]!, vector)
      }
    } catch {
      this.#pause()
    }
  }

  async #embed(input: string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { url, model, apiKey } = this.#options
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify({ input, ...(model && { model }) }),
      redirect: 'error',
      signal,
    })
    if (!response.ok) throw new Error(`status ${response.status}`)
    return parseVectors(await response.json(), input.length)
  }

  #pause(): void {
    if (performance.now() < this.#pausedUntil) return
    this.#pausedUntil = performance.now() + PAUSE_MS
    this.#options.log?.warning('The embedding endpoint returned an invalid response; searches use words alone for now')
  }
}

function parseVectors(body: unknown, count: number): Float32Array[] {
  const data = isRecord(body) && Array.isArray(body['data']) ? body['data'] : []
  if (data.length !== count) throw new Error('wrong number of vectors')
  const vectors: Float32Array[] = Array.from({ length: count })
  for (const [position, entry] of data.entries()) {
    const index: unknown = isRecord(entry) ? (entry['index'] ?? position) : -1
    const embedding = isRecord(entry) ? entry['embedding'] : undefined
    if (!Array.isArray(embedding) || !Number.isInteger(index) || embedding.length === 0) throw new Error('no vector')
    vectors[index as number] = normalized(Float32Array.from(embedding as number[]))
  }
  if (vectors.some((vector) => vector === undefined) || vectors.length !== count) throw new Error('a vector is missing')
  return vectors
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector))
  if (!Number.isFinite(length) || length === 0) throw new Error('not a vector')
  return vector.map((value) => value / length)
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at += 1) sum += a[at]! * b[at]!
  return sum
}
