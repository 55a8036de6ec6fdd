// Pages that a server wants the user to open before it does what it was asked (MCP 2025-11-25, Elicitation, URL Mode): what it names in its
// error, and when it says that the user is done there. It does not show pages itself.
import { REPLACEMENT } from '../../config/secrets/encoded-secrets.ts'
import { type Redactor, redactStart } from '../../config/secrets/redact.ts'
import { untilAborted, withTimeout } from '../../process/wait.ts'
import { isPlainlySeen, onOneLine } from '../../text/server-words.ts'

/** JSON-RPC error code "URL elicitation required". */
const URL_ELICITATION_REQUIRED = -32_042
const MAX_PAGES = 5
const MAX_URL_CHARS = 4096
const MESSAGE_CHARS = 500
const MIN_SECRET_CHARS = 12
const PLAIN_WEB_ADDRESS = /^https?:\/\/[^\s\\/?#][^\s\\]*$/i

/** How long to wait for a server to say that the user is done; many never do. */
const WAIT_MS = 30_000
const KEPT_IDS = 100

export interface RequiredPage {
  url: string
  /** In the server's words; empty when it gave none. */
  message: string
  /** By which the server will say that the user is done. */
  id?: string
}

/** The address that a server wants its user to open, when that is a web page: a browser opens programs, too. */
export function webPage(url: unknown): URL | undefined {
  // Parsers forgive backslashes, blanks and control characters, each in its own way: an address that needs that may be two.
  if (typeof url !== 'string' || url.length > MAX_URL_CHARS || !PLAIN_WEB_ADDRESS.test(url)) return undefined
  if (!URL.canParse(url) || !isPlainlySeen(url)) return undefined
  const page = new URL(url)
  if (page.protocol !== 'https:' && page.protocol !== 'http:') return undefined
  // An address with a user name in it looks like another one.
  return page.href.startsWith(`${page.origin}/`) ? page : undefined
}

/** Web pages only. None for every other error. */
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

/** A link must stay valid: a short argument of the server's command, such as `auth`, is not removed from a path. */
function withoutSecrets(rest: string, redact: Redactor): string {
  return rest.replace(/[^/?&=#]+/g, (part) => {
    if (part.length < MIN_SECRET_CHARS) return part
    const shown = redact(part)
    return shown === REPLACEMENT ? shown : part
  })
}

/** What one server has said about pages. A page may be finished before anyone waits for that. */
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
