// Controls access to the page: only for the browser that opened a one-time link. It gets a cookie, and a key for the
// page's own script. Browsers send the cookie to every port of this machine, including other users' ports; the key
// stays with the page's origin. Both are required, and both end with the bridge: an open page goes on asking at its
// port, where another user's program may listen by then.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const KEY_HEADER = 'x-sandbridge-key'
const LINK_MS = 10 * 60_000
const PASS_MS = 24 * 60 * 60_000
const MAX_LINKS = 100

export class Access {
  readonly #secret = randomBytes(32)
  readonly #now: () => number
  /** Unused links and their expiry times. */
  readonly #links = new Map<string, number>()

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Makes a link that can be opened once, within ten minutes. */
  newLink(): string {
    const link = randomBytes(24).toString('base64url')
    this.#links.set(link, this.#now() + LINK_MS)
    if (this.#links.size > MAX_LINKS) this.#links.delete(this.#links.keys().next().value!)
    return link
  }

  /** Whether it can be redeemed. */
  isOpen(link: string): boolean {
    return (this.#links.get(link) ?? 0) > this.#now()
  }

  /** Undefined for a used, expired or unknown link. */
  redeem(link: string): { cookie: string; key: string } | undefined {
    const end = this.#links.get(link)
    this.#links.delete(link)
    if (end === undefined || end <= this.#now()) return undefined
    const about = `${randomBytes(12).toString('base64url')}.${this.#now() + PASS_MS}`
    return { cookie: `${about}.${this.#sign('cookie', about)}`, key: this.#sign('key', about) }
  }

  /** Whether the requesting browser opened a link. */
  hasCookie(request: IncomingMessage, port: number): boolean {
    return this.#aboutOf(request, port) !== undefined
  }

  /** Whether the page itself sends the request. */
  hasPass(request: IncomingMessage, port: number): boolean {
    const about = this.#aboutOf(request, port)
    const key = request.headers[KEY_HEADER]
    return about !== undefined && typeof key === 'string' && isSame(key, this.#sign('key', about))
  }

  #aboutOf({ headers }: IncomingMessage, port: number): string | undefined {
    const name = `${cookieName(port)}=`
    const cookie = (headers.cookie ?? '').split('; ').find((one) => one.startsWith(name))
    const [, about, end, signature] = /^([\w-]+\.(\d{1,16}))\.([\w-]+)$/.exec(cookie?.slice(name.length) ?? '') ?? []
    if (about === undefined || signature === undefined || Number(end) <= this.#now()) return undefined
    return isSame(signature, this.#sign('cookie', about)) ? about : undefined
  }

  #sign(purpose: 'cookie' | 'key', about: string): string {
    return createHmac('sha256', this.#secret).update(`${purpose} ${about}`).digest('base64url')
  }
}

/** Cookies ignore ports, so the name has the port: two bridges of one user must not replace each other's cookie. */
export function cookieName(port: number): string {
  return `sandbridge_page_${port}`
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
