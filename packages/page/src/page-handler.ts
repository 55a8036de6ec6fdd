// Answers the page's requests: access, files, queries and the event stream.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { isLoopbackName, hostOf } from '@sandbridge/http/requests/origin-headers.ts'
import { BodyError, readBody, readJsonBody } from '@sandbridge/http/requests/request-body.ts'
import { Access, cookieName } from './access.ts'
import { LivePages } from './live-pages.ts'
import { enteringPage, lockedPage, notePage, openingPage, SUBMIT_HASH } from './small-pages.ts'
import { QuestionLinks } from './question-links.ts'
import type { KeptQuestion } from '@sandbridge/core/calls'
import { createRoutes } from './routes.ts'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { PACKAGE_ROOT } from '@sandbridge/core/util'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export const PAGE_PATH = '/ui/'
const API = 'api/'
const LINK = 'open/'
const QUESTION = 'question'
const BODY_BYTES = 2 * 1024 * 1024
const FORM_BYTES = 4_096
const QUESTION_SECONDS = 24 * 60 * 60

/** Allows only the page's own scripts, and no requests to or from other origins. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** For a form. A browser sends the form's origin only under a referrer policy that allows it. */
const FORM_HEADERS = {
  'content-security-policy': "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
}

export class PageHandler {
  readonly access = new Access()
  readonly #files = readPageFiles()
  readonly #pages: LivePages
  readonly #questions: QuestionLinks
  readonly #routes: ReturnType<typeof createRoutes>
  readonly #admit: (socket: Socket) => boolean

  /** @param admit the page has sent this connection's request; false when too many such connections are open */
  constructor(bridge: Bridge, admit: (socket: Socket) => boolean) {
    this.#admit = admit
    this.#pages = new LivePages(bridge)
    this.#routes = createRoutes(bridge, this.#pages.ledger)
    this.#questions = new QuestionLinks(bridge.settings.stateDir)
  }

  /** A one-time link to the page. @param origin `http://127.0.0.1:PORT` */
  newLink(origin: string, view?: 'ask'): string {
    return `${origin}${PAGE_PATH}${LINK}${this.access.newLink()}${view === undefined ? '' : `?at=${view}`}`
  }

  /** A one-time link to one question. */
  linkTo(origin: string, question: KeptQuestion): string {
    return `${origin}${PAGE_PATH}${QUESTION}/${this.#questions.newLink(question)}`
  }

  get isOpen(): boolean {
    return this.#pages.count > 0
  }

  /** Whether the sender has access. */
  isKnown(request: IncomingMessage): boolean {
    return this.access.hasCookie(request, portOf(request))
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
    const refusal = strangerReason(request)
    if (refusal !== undefined) return sendJson(response, 403, { error: refusal })
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (!url.pathname.startsWith(PAGE_PATH)) {
      response.writeHead(307, { location: PAGE_PATH }).end()
      return
    }
    const asked = url.pathname.slice(PAGE_PATH.length)
    if (asked.startsWith(LINK)) return this.#open(asked.slice(LINK.length), url, request, response)
    if (asked === QUESTION || asked.startsWith(`${QUESTION}/`)) return this.#question(asked, request, response)
    if (asked.startsWith(API)) return this.#answerApi(asked.slice(API.length), url, request, response)
    if (!this.isKnown(request)) return sendPage(response, 401, lockedPage('Open the link that the bridge printed.'))
    const file = this.#files.get(asked === '' ? 'index.html' : asked)
    if (!file) return sendJson(response, 404, { error: 'No such file' })
    // Names of assets change with their content.
    const cache = asked.startsWith('assets/') ? 'private, max-age=31536000, immutable' : 'no-store'
    response.writeHead(200, { 'content-type': file.type, 'content-length': file.bytes.length, 'cache-control': cache })
    response.end(file.bytes)
  }

  close(): void {
    this.#pages.close()
  }

  /** Shows and answers one question, for the holder of its link. */
  async #question(asked: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(FORM_HEADERS)) response.setHeader(name, value)
    const address = `${PAGE_PATH}${QUESTION}`
    const name = `sandbridge_question_${portOf(request)}_`
    if (request.method === 'GET') {
      if (isPreview(request)) return sendPage(response, 503, notePage('Open the link to answer.'))
      const word = asked.slice(QUESTION.length + 1)
      const owners = (request.headers.cookie ?? '').split('; ').flatMap((cookie) => {
        const [key = '', value = ''] = cookie.split('=')
        return key.startsWith(name) ? value : []
      })
      const { status, html, owner } = this.#questions.open(word, address, owners)
      // The link comes from the client, so that a strict cookie would not come with a reload.
      const about = `Path=${address}; HttpOnly; SameSite=Lax; Max-Age=${QUESTION_SECONDS}`
      if (owner !== undefined) response.setHeader('set-cookie', `${name}${word.slice(0, 8)}=${owner}; ${about}`)
      return sendPage(response, status, html)
    }
    // A browser sends the form's origin; a page of another site could send a form, too.
    if (request.method !== 'POST' || request.headers.origin === undefined)
      return sendJson(response, 405, { error: 'Open the link, and answer there' })
    try {
      const { status, html } = await this.#questions.answer(new URLSearchParams(await readBody(request, FORM_BYTES)))
      sendPage(response, status, html)
    } catch (error) {
      sendPage(response, error instanceof BodyError ? error.status : 400, notePage(messageOf(error)))
    }
  }

  #open(link: string, url: URL, request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'GET' && this.access.isOpen(link)) {
      const policy = FORM_HEADERS['content-security-policy'].replace(';', `; script-src ${SUBMIT_HASH};`)
      for (const [name, value] of Object.entries(FORM_HEADERS)) response.setHeader(name, value)
      response.setHeader('content-security-policy', policy)
      return sendPage(response, 200, openingPage(`${url.pathname}${url.search}`))
    }
    // The history of a browser that has access leads to the link, too.
    if (request.method === 'GET' && this.isKnown(request)) return sendPage(response, 200, enteringPage(PAGE_PATH))
    const isForm = request.method === 'POST' && request.headers.origin !== undefined
    const pass = isForm ? this.access.redeem(link) : undefined
    if (!pass) return sendPage(response, 401, lockedPage('This link was used before, or is too old.'))
    const cookie = `${cookieName(portOf(request))}=${pass.cookie}; Path=${PAGE_PATH}; HttpOnly; SameSite=Strict`
    response.setHeader('set-cookie', cookie)
    const view = url.searchParams.get('at') === 'ask' ? '&at=ask' : ''
    sendPage(response, 200, enteringPage(`${PAGE_PATH}#key=${pass.key}${view}`))
  }

  async #answerApi(place: string, url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.access.hasPass(request, portOf(request))) {
      return sendJson(response, 401, { error: 'The access of this page has ended. Open a new link.' })
    }
    if (!this.#admit(request.socket)) return sendJson(response, 503, { error: 'Too many connections are open' })
    if (place === 'events') {
      if (!this.#pages.open(response)) sendJson(response, 503, { error: 'Too many pages are open' })
      return
    }
    const route = this.#routes.get(place)
    if (!route) return sendJson(response, 404, { error: 'No such path' })
    if (request.method !== route.method) return sendJson(response, 405, { error: `Use ${route.method}` })
    try {
      const params =
        route.method === 'POST' ? await readJsonBody(request, BODY_BYTES) : Object.fromEntries(url.searchParams)
      sendJson(response, 200, (await route.answer(params)) ?? null)
    } catch (error) {
      const status = error instanceof BodyError ? error.status : 400
      const hint = BridgeError.isInstance(error) ? error.hint : undefined
      sendJson(response, status, { error: messageOf(error), ...(hint && { hint }) })
    }
  }
}

/** Why a request is not from the page or from a link to it; undefined when it may be. */
function strangerReason({ headers, headersDistinct }: IncomingMessage): string | undefined {
  if (['host', 'origin'].some((name) => (headersDistinct[name]?.length ?? 0) > 1)) return 'Send one of each header'
  const { host = '', origin } = headers
  if (!isLoopbackName(hostOf(host))) return 'The Host header does not name this server'
  if (origin !== undefined && origin !== `http://${host}`) return 'This Origin is not allowed'
  return undefined
}

/** A browser that looks at a link before its user opens it. */
function isPreview({ headers }: IncomingMessage): boolean {
  return /prefetch|prerender|preview/i.test(`${String(headers['sec-purpose'])} ${String(headers['purpose'])}`)
}

function portOf({ socket }: IncomingMessage): number {
  return socket.localPort ?? 0
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value))
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
  })
  response.end(body)
}

function sendPage(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
  response.end(html)
}

/** By URL path: `index.html`, `assets/….js`. @throws BridgeError CONFIG_INVALID when the page was not built */
function readPageFiles(): ReadonlyMap<string, { type: string; bytes: Buffer }> {
  const folder = path.join(PACKAGE_ROOT, 'dist', 'web')
  if (!existsSync(folder))
    throw new BridgeError('CONFIG_INVALID', `The page is missing: ${folder}. Run \`npm run build\`.`)
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[path.extname(name)]
      return type ? [[name.replaceAll('\\', '/'), { type, bytes: readFileSync(path.join(folder, name)) }] as const] : []
    }),
  )
}
