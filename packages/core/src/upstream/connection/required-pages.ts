// Pages that a server requires the user to open before it does a request (MCP 2025-11-25, Elicitation, URL Mode): reads
// them from its error, and tracks when the server says that the user has finished. It does not show pages itself.
import { REPLACEMENT } from '../../config/secrets/encoded-secrets.ts'
import { type Redactor, redactStart } from '../../config/secrets/redact.ts'
import { untilAborted, withTimeout } from '../../util/async/wait.ts'
import { isPlainlySeen, onOneLine } from '../../util/text/server-words.ts'

/** JSON-RPC error code "URL elicitation required". */
export const URL_ELICITATION_REQUIRED = -32_042
const MAX_PAGES = 5
const MAX_URL_CHARS = 4096
const MESSAGE_CHARS = 500
const MIN_SECRET_CHARS = 12
const PLAIN_WEB_ADDRESS = /^https?:\/\/[^\s\\/?#][^\s\\]*$/i

/** How long to wait for a server to say that the user has finished; many never do. */
const WAIT_MS = 30_000
const KEPT_IDS = 100

export interface RequiredPage {
  url: string
  /** The server's text; empty when it sent none. */
  message: string
  /** The id with which the server will say that the user has finished. */
  id?: string
}

/** The address that a server wants the user to open, if it is a web page: a browser can also open programs. */
export function webPage(url: unknown): URL | undefined {
  // Parsers treat these differently, so such an address could mean two different pages.
  if (typeof url !== 'string' || url.length > MAX_URL_CHARS || !PLAIN_WEB_ADDRESS.test(url)) return undefined
  if (!URL.canParse(url) || !isPlainlySeen(url)) return undefined
  const page = new URL(url)
  if (page.protocol !== 'https:' && page.protocol !== 'http:') return undefined
  // An address with a user name in it can look like another address.
  return page.href.startsWith(`${page.origin}/`) ? page : undefined
}

/** Returns web pages only; empty for every other error. */
export function requiredPages(error: unknown, redact: Redactor): RequiredPage[] {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { elicitations?: unknown } }
  if (code !== URL_ELICITATION_REQUIRED || !Array.isArray(data?.elicitations)) return []
  return (data.elicitations as unknown[]).slice(0, MAX_PAGES).flatMap((entry): RequiredPage[] => {
    const { url, message, elicitationId } = (entry ?? {}) as Record<string, unknown>
    const page = webPage(url)
    if (!page) return []
    const { origin, href } = page
    return [
      {
        url: `${origin}${withoutSecrets(href.slice(origin.length), redact)}`,
        message:
          typeof message === 'string'
            ? redactStart(redact, onOneLine(message.slice(0, 4 * MESSAGE_CHARS)), MESSAGE_CHARS)
            : '',
        ...(typeof elicitationId === 'string' && elicitationId.length <= MESSAGE_CHARS && { id: elicitationId }),
      },
    ]
  })
}

/** A link must stay valid: a short argument of the server's command, such as `auth`, stays in its path. */
function withoutSecrets(rest: string, redact: Redactor): string {
  return rest.replace(/[^/?&=#]+/g, (part) => {
    if (part.length < MIN_SECRET_CHARS) return part
    const shown = redact(part)
    return shown === REPLACEMENT ? shown : part
  })
}

/** The pages that one server reported as finished, possibly before anyone waits for them. */
export class FinishedPages {
  readonly #ids = new Set<string>()
  readonly #waiting = new Set<() => void>()

  add(id: string): void {
    this.#ids.add(id)
    for (const oldest of this.#ids) if (this.#ids.size > KEPT_IDS) this.#ids.delete(oldest)
    for (const check of this.#waiting) check()
  }

  /** Resolves when the page is finished, after half a minute, or on abort. */
  async wait(id: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    let finish = (): void => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const check = (): void => {
      if (!this.#ids.delete(id)) return
      this.#waiting.delete(check)
      finish()
    }
    this.#waiting.add(check)
    check()
    await untilAborted(withTimeout(finished, WAIT_MS, finish), signal).catch(() => {})
    this.#waiting.delete(check)
  }
}
