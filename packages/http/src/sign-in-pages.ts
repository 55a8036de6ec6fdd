// Pages at the bridge's public address where people on other machines sign in to MCP servers. A sign-in is for the user
// who enters their token, or for the user a link was made for, whose name the page shows. It must end in the browser
// that started it: no user can trick another into signing in for them (MCP 2025-11-25, Elicitation, Phishing).
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf } from '@sandbridge/core/errors.ts'
import { escaped, html } from './html.ts'
import type { Callback, SignInPage } from '@sandbridge/core/parts'
import { oneLine } from '@sandbridge/core/util/text'
import { SIGN_IN_MS } from '@sandbridge/core/upstream/auth'
import { readBody } from './requests/request-body.ts'

/** Of a user, who ends no link of another. */
const MAX_LINKS = 100
const MAX_BODY_BYTES = 16 * 1024
const MAX_NAME_CHARS = 200
const COOKIE = 'sandbridge-sign-in-'
const STYLE =
  ':root{color-scheme:light dark}body{max-width:32rem;margin:3rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}' +
  'label{display:block}input,button{font:inherit;padding:.4rem .6rem}input{display:block;width:100%;box-sizing:border-box}'
const HEAD = `<meta name="viewport" content="width=device-width"><style>${STYLE}</style>`
const STYLE_HASH = hash('sha256', STYLE, 'base64')
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self' https: http:; frame-ancestors 'none'; base-uri 'none'`,
}

interface Link {
  server: string
  user: string | undefined
  page: URL
}

/** @returns the authorization server's page; undefined for an unknown token @throws why the sign-in cannot start */
export type BeginSignIn = (token: string, server: string) => Promise<URL | undefined>

export class SignInPages implements SignInPage {
  readonly #address: URL
  readonly #links = new Map<string, Link>()
  /** Callback by OAuth `state`. */
  readonly #waiting = new Map<string, (parameters: URLSearchParams) => void>()
  /** The cookie of the browser that started the sign-in, by `state`. */
  readonly #browsers = new Map<string, string>()

  /** @param publicUrl the address at which clients reach the bridge */
  constructor(publicUrl: string) {
    this.#address = new URL(`${publicUrl.replace(/\/$/, '')}/sign-in`)
  }

  addressFor(server: string): string {
    return `${this.#address.href}?${new URLSearchParams({ server }).toString()}`
  }

  linkTo(link: Link): string {
    const id = randomBytes(24).toString('base64url')
    this.#links.set(id, link)
    const own = [...this.#links].filter(([, { user }]) => user === link.user)
    if (own.length > MAX_LINKS) this.#links.delete(own[0]![0])
    setTimeout(() => this.#links.delete(id), SIGN_IN_MS).unref()
    return `${this.#address.href}?${new URLSearchParams({ link: id }).toString()}`
  }

  openCallback = (): Promise<Callback> => {
    const { href, port, protocol } = this.#address
    let state = ''
    return Promise.resolve({
      url: `${href}/callback`,
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      answer: (expected) => new Promise((resolve) => this.#waiting.set((state = expected), resolve)),
      close: () => {
        this.#waiting.delete(state)
        this.#browsers.delete(state)
      },
    })
  }

  /** @param path below the address where MCP is served */
  async answer(request: IncomingMessage, response: ServerResponse, path: string, begin: BeginSignIn): Promise<void> {
    const { searchParams } = new URL(request.url ?? '/', this.#address)
    const isGet = request.method === 'GET'
    if (path === '/sign-in/callback' && isGet) return this.#end(request, response, searchParams)
    if (path === '/sign-in' && isGet) return this.#ask(response, searchParams)
    if (path === '/sign-in' && request.method === 'POST') return this.#begin(request, response, begin)
    show(response, 404, 'There is no such page.')
  }

  #ask(response: ServerResponse, parameters: URLSearchParams): void {
    const id = parameters.get('link')
    const server = oneLine(parameters.get('server'), MAX_NAME_CHARS)
    if (id === null) return this.#askForToken(response, 200, server, '')
    const link = this.#links.get(id)
    if (!link) return show(response, 410, 'This link is used or too old. Run the code again to get a new one.')
    const who = link.user === undefined ? 'the owner of this bridge' : `the user ${link.user} of this bridge`
    const text = `<p>Code that runs for <strong>${escaped(who)}</strong> wants to use the server <strong>${escaped(link.server)}</strong>. Anyone who signs in here lets that code act in their name.</p><p>Go on only if this is you.</p>`
    this.#form(response, 200, link.server, `${text}<input type="hidden" name="link" value="${escaped(id)}">`)
  }

  /** @param note one sentence */
  #askForToken(response: ServerResponse, status: number, server: string, note: string): void {
    const about = note === '' ? '' : `<p role="alert">${escaped(note)}</p>`
    const fields = `<p><label>Server <input name="server" required value="${escaped(server)}"></label></p><p><label>Your token for this bridge <input name="token" type="password" autocomplete="off" required></label></p>`
    this.#form(response, status, server, about + fields)
  }

  #form(response: ServerResponse, status: number, server: string, fields: string): void {
    const action = escaped(this.#address.pathname)
    const form = `<form method="post" action="${action}">${fields}<p><button>Sign in</button></p></form>`
    response.writeHead(status, HEADERS)
    response.end(html('Sandbridge: sign in', HEAD, `<h1>Sign in to ${escaped(server || 'a server')}</h1>${form}`))
  }

  async #begin(request: IncomingMessage, response: ServerResponse, begin: BeginSignIn): Promise<void> {
    // A form on another site could start a sign-in that the user did not ask for.
    if (request.headers.origin !== this.#address.origin) return show(response, 403, 'This form is of another site.')
    const form = new URLSearchParams(await readBody(request, MAX_BODY_BYTES))
    const server = form.get('server') ?? ''
    const id = form.get('link')
    let page: URL | undefined
    if (id === null) {
      try {
        page = await begin(form.get('token') ?? '', server)
      } catch (error) {
        return show(response, 502, messageOf(error))
      }
      if (!page) return this.#askForToken(response, 403, server, 'This token is not known here.')
    } else {
      page = this.#links.get(id)?.page
      this.#links.delete(id)
    }
    const state = page?.searchParams.get('state')
    if (!page || !state || !this.#waiting.has(state)) return show(response, 410, 'This sign-in is over. Begin it anew.')
    const secret = randomBytes(24).toString('base64url')
    this.#browsers.set(state, secret)
    response.writeHead(303, { ...HEADERS, location: page.href, 'set-cookie': this.#cookie(state, secret) })
    response.end()
  }

  #end(request: IncomingMessage, response: ServerResponse, parameters: URLSearchParams): void {
    const state = parameters.get('state') ?? ''
    const onAnswer = this.#waiting.get(state)
    if (!onAnswer || !this.#isSameBrowser(request, state))
      return show(response, 400, 'This sign-in was not started in this browser. Start it again here.')
    // Accept one response only, whatever it says.
    this.#waiting.delete(state)
    const isRefused = parameters.has('error')
    show(
      response,
      200,
      isRefused ? 'The sign-in was refused.' : 'Sandbridge has received the response. You can close this page.',
    )
    onAnswer(parameters)
  }

  #isSameBrowser(request: IncomingMessage, state: string): boolean {
    const expected = this.#browsers.get(state)
    const name = `${cookieName(state)}=`
    const shown = request.headers.cookie
      ?.split('; ')
      .find((one) => one.startsWith(name))
      ?.slice(name.length)
    if (expected === undefined || shown?.length !== expected.length) return false
    return timingSafeEqual(Buffer.from(shown), Buffer.from(expected))
  }

  #cookie(state: string, secret: string): string {
    const { pathname, protocol } = this.#address
    const attributes = `Path=${pathname}; Max-Age=${SIGN_IN_MS / 1000}; HttpOnly; SameSite=Lax`
    return `${cookieName(state)}=${secret}; ${attributes}${protocol === 'https:' ? '; Secure' : ''}`
  }
}

/** One cookie per sign-in: several may be under way in one browser. */
function cookieName(state: string): string {
  return COOKIE + state.replaceAll(/[^\w-]/g, '').slice(0, 12)
}

/** @param note one or two sentences */
function show(response: ServerResponse, status: number, note: string): void {
  response.writeHead(status, HEADERS)
  response.end(html('Sandbridge: sign in', HEAD, `<p role="status">${escaped(note)}</p>`))
}
