// Work on a server that may need its user first: to sign in, or to open a page that the server names. The client of the cell is offered the link
// when it can show one (URL elicitation, MCP 2025-11-25), and the work is tried once more. Otherwise its error stays what it is: it says what to do.
import { randomUUID } from 'node:crypto'
import { BridgeError } from '../../errors.ts'
import { type Abortable, signalOf } from '../../process/cancellation.ts'
import type { Asker, Question } from './questions.ts'
import type { RequiredPage } from '../../upstream/connection/required-pages.ts'
import type { CallContext } from '../methods/method.ts'

/** How long a user may take to sign in. The cell's own limit stands still meanwhile. */
const SIGN_IN_MS = 5 * 60_000

type Context = Pick<CallContext, 'upstreams' | 'signIn' | 'signInPage' | 'questions' | 'asker' | 'session' | 'origin'>

/** What came of an offer: the work can be tried again now, from the next cell on, or its error stands. */
type Settled = 'now' | 'next-cell' | 'no'

/** For each cell and server, the offer that is open, or that stands: hundreds of calls make one offer, and no is no. */
const offers = new WeakMap<Asker, Map<string, Promise<Settled>>>()

/** What the server asks meanwhile goes to the cell's client, too. @throws what `work` throws */
export async function withUser<T>(
  server: string,
  context: Context,
  work: Abortable,
  ask: () => Promise<T> | T,
): Promise<T> {
  const { questions, asker } = context
  let leave = questions.enter(server, context, work)
  try {
    return await ask()
  } catch (error) {
    // While the user is busy, the server has no call in flight that a question could belong to.
    leave()
    if (!asker || !BridgeError.isInstance(error)) throw error
    const settled = await settle(server, error, asker, context, work)
    if (settled === 'next-cell') throw signedInForLater(server)
    if (settled === 'no') throw error
    leave = questions.enter(server, context, work)
    return await ask()
  } finally {
    leave()
  }
}

function settle(
  server: string,
  error: BridgeError,
  asker: Asker,
  context: Context,
  work: Abortable,
): Promise<Settled> | Settled {
  const canOffer = asker.canAnswer(linkQuestion('', ''))
  if (!canOffer || work.aborted) return 'no'
  if (error.code !== 'UPSTREAM_LINK_REQUIRED' && error.code !== 'UPSTREAM_AUTH_REQUIRED') return 'no'
  if (error.code === 'UPSTREAM_AUTH_REQUIRED' && !context.upstreams.canSignIn(server)) return 'no'
  const ofCell = offers.get(asker) ?? new Map<string, Promise<Settled>>()
  offers.set(asker, ofCell)
  const earlier = ofCell.get(server)
  if (earlier) return earlier
  const steps =
    error.code === 'UPSTREAM_AUTH_REQUIRED'
      ? signIn(server, error, asker, context, signalOf(work))
      : openPages(server, error, asker, context, signalOf(work))
  const offer = steps.then(
    (settled) => {
      if (settled === 'now') ofCell.delete(server)
      return settled
    },
    () => 'no' as const,
  )
  ofCell.set(server, offer)
  return offer
}

function signedInForLater(server: string): BridgeError {
  return new BridgeError(
    'UPSTREAM_AUTH_REQUIRED',
    `The user has signed in to server '${server}', for the cells after this one`,
    {
      hint: 'Run the cell again.',
    },
  )
}

async function openPages(
  server: string,
  error: BridgeError,
  asker: Asker,
  context: Context,
  signal: AbortSignal,
): Promise<Settled> {
  const { upstreams } = context
  const { pages } = error.data as { pages: RequiredPage[] }
  for (const { url, message } of pages) await show(server, url, message, asker, context, signal)
  const finished = pages.flatMap(({ id }) => (id === undefined ? [] : [upstreams.pageFinished(server, id, signal)]))
  await asker.hold(Promise.all(finished))
  return 'now'
}

async function signIn(
  server: string,
  error: BridgeError,
  asker: Asker,
  context: Context,
  signal: AbortSignal,
): Promise<Settled> {
  const scope = (error.data as { scope?: string } | undefined)?.scope
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SIGN_IN_MS)])
  const { signInPage, origin } = context
  const showPage = (page: URL): Promise<void> => {
    const link = signInPage?.linkTo({ server, user: origin.user, page }) ?? page.href
    return show(server, link, 'Sign in, so that the running code can continue.', asker, context, limit)
  }
  return asker.hold(context.signIn(server, { showPage, signal: limit, ...(scope && { scope }) }))
}

/** @throws Error when the user does not want to open it */
async function show(
  server: string,
  url: string,
  message: string,
  asker: Asker,
  { questions, origin }: Context,
  signal: AbortSignal,
): Promise<void> {
  // Names the server, so that the user knows where the question comes from.
  const said = message || 'Open this page to continue.'
  const question = linkQuestion(url, `MCP server '${server}' asks: ${said}`)
  const { action } = await questions.ask(asker, { server, origin }, question, signal)
  if (action !== 'accept') throw new Error('declined')
}

function linkQuestion(url: string, message: string): Question {
  return { method: 'elicitation/create', params: { mode: 'url', elicitationId: randomUUID(), url, message } }
}
