// The MCP client package writes what an authorization server says of an error to stderr, and some say what they were sent.
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Redactor } from '../redact.ts'

/** `fetch` whose answers that tell of an error have the secrets taken out. */
export function withoutSecrets(fetch: FetchLike, redact: Redactor): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (response.status < 400) return response
    const { status, statusText, headers } = response
    return new Response(redact(await response.text()), { status, statusText, headers })
  }
}
