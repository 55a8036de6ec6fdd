// Asks the user's endpoint, in the format of Presidio Analyzer (`POST /analyze`), where names occur in a text. Sends no
// text elsewhere: it follows no redirect. Every failure is an error, never "no names".
import { BridgeError } from '@sandbridge/core/errors.ts'
import { lineCost } from '@sandbridge/core/util/json'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import { readAtMost } from '@sandbridge/shared/unpack/decoded.ts'
import type { NameFinder } from '../masker.ts'
import type { Match } from '../by-patterns.ts'
import { type AnalyzeRequest, packed, readMatches } from './analyze-request.ts'

const REQUEST_TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 8 << 20
/** Limit for all texts of one result. */
const MAX_CHARS = 1_000_000
const ENTITIES = ['PERSON', 'LOCATION']

/** @param url base URL of `/analyze`; `?language=de&entities=PERSON,NRP` selects the language and the entities */
export function createNameFinder(url: string, timeoutMs = REQUEST_TIMEOUT_MS): NameFinder {
  const { address, authorization, language, entities } = endpointOf(url)
  const ask = async ({ text }: AnalyzeRequest, signal: AbortSignal): Promise<unknown> => {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...authorization },
      body: JSON.stringify({ text, language, entities }),
      redirect: 'error',
      signal,
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`status ${response.status}`)
    }
    return parseJson(await bodyOf(response))
  }
  return async (texts, signal) => {
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    if (length > MAX_CHARS) throw unavailable(`the text has ${length} characters, ${MAX_CHARS} at most`)
    const found = new Map<string, Match[]>()
    for (const request of packed(texts)) {
      const limit = AbortSignal.timeout(timeoutMs)
      const answer = await ask(request, signal ? AbortSignal.any([signal, limit]) : limit).catch((error: unknown) => {
        throw unavailable(limit.aborted ? `it did not answer within ${timeoutMs / 1000} s` : reasonOf(error))
      })
      const matches = readMatches(answer, request)
      if (!matches) throw unavailable('it returned an invalid response')
      for (const [text, places] of matches) found.set(text, [...(found.get(text) ?? []), ...places])
    }
    return found
  }
}

/** Moves the credentials into a header: `fetch` rejects them in a URL. */
function endpointOf(text: string) {
  const url = new URL(text)
  const { username, password, searchParams } = url
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const wanted = searchParams.get('entities')?.split(',') ?? []
  return {
    address: `${url.origin}${url.pathname.replace(/\/+$/, '')}/analyze`,
    authorization: credentials === ':' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    language: searchParams.get('language') ?? 'en',
    entities: wanted.length > 0 ? wanted : ENTITIES,
  }
}

async function bodyOf(response: Response): Promise<string> {
  const tooLong = (): Error => new Error(`its response has more than ${MAX_ANSWER_BYTES >> 20} MB`)
  const bytes = await readAtMost(response.body, MAX_ANSWER_BYTES, tooLong)
  const { tooCostly } = lineCost(bytes)
  if (tooCostly !== undefined) throw new Error(`its response has ${tooCostly}`)
  return bytes.toString()
}

/** `fetch` puts the reason into `cause`. No reason contains text of the result. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string }
  return cause?.code ?? cause?.message ?? message ?? 'it cannot be reached'
}

function unavailable(reason: string): BridgeError {
  return new BridgeError('MASK_UNAVAILABLE', `The text could not be searched for names: ${reason}`)
}
