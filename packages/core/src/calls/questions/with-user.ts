// Work on a server that may need its user first: to sign in, or to open a page. A client that can show links gets it
// (URL elicitation, MCP 2025-11-25), and the work is retried once. Otherwise the error says what to do.
import { randomUUID } from 'node:crypto'
import { BridgeError } from '../../errors.ts'
import { type Abortable, signalOf } from '../../util/async/cancellation.ts'
import type { Asker, Question } from './questions.ts'
import { SIGN_IN_MS } from '../../upstream/auth/own-credentials.ts'
import type { RequiredPage } from '../../upstream/connection/required-pages.ts'
import type { CallContext } from '../methods/method.ts'

type Context = Pick<CallContext, 'upstreams' | 'signIn' | 'signInPage' | 'questions' | 'asker' | 'session' | 'origin'>

/** The outcome of an offer: retry now, retry from the next cell on, or keep the error. */
type Settled = 'now' | 'next-cell' | 'no'

/** What the user of a cell is asked to do, because a server requires it. */
interface Offer {
  server: string
  error: BridgeError
  asker: Asker
  context: Context
  signal: AbortSignal
}

/** The offer for each cell and server: hundreds of calls make one, and a declined one is not repeated. */
const offers = new WeakMap<Asker, Map<string, Promise<Settled>>>()

/** Sends requests of the server during the work to the cell's client. @throws what `work` throws */
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
    // While the user is busy, no call is in flight that a question could belong to.
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
  const make = error.code === 'UPSTREAM_AUTH_REQUIRED' ? signIn : openPages
  const offer = make({ server, error, asker, context, signal: signalOf(work) }).then(
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
  const text = `The user has signed in to server '${server}', for the cells after this one`
  return new BridgeError('UPSTREAM_AUTH_REQUIRED', text, { hint: 'Run the cell again.' })
}

async function openPages(offer: Offer): Promise<Settled> {
  const { server, error, asker, context, signal } = offer
  const { pages } = error.data as { pages: RequiredPage[] }
  for (const { url, message } of pages) await show(offer, url, message)
  const finished = pages.flatMap(({ id }) =>
    id === undefined ? [] : [context.upstreams.pageFinished(server, id, signal)],
  )
  await asker.hold(Promise.all(finished))
  return 'now'
}

async function signIn(offer: Offer): Promise<Settled> {
  const { server, asker, context } = offer
  // The cell's own time limit is paused meanwhile.
  const signal = AbortSignal.any([offer.signal, AbortSignal.timeout(SIGN_IN_MS)])
  const showPage = (page: URL): Promise<void> => {
    const link = context.signInPage?.linkTo({ server, user: context.origin.user, page }) ?? page.href
    return show({ ...offer, signal }, link, 'Sign in, so that the running code can continue.')
  }
  return asker.hold(context.signIn(server, { showPage, signal }))
}

/** @throws Error when the user declines to open it */
async function show({ server, asker, context, signal }: Offer, url: string, message: string): Promise<void> {
  const { questions, origin } = context
  // Names the server, so that the user knows where the question comes from.
  const said = message || 'Open this page to continue.'
  const question = linkQuestion(url, `MCP server '${server}' asks: ${said}`)
  const { action } = await questions.ask(asker, { server, origin }, question, signal)
  if (action !== 'accept') throw new Error('declined')
}

function linkQuestion(url: string, message: string): Question {
  return { method: 'elicitation/create', params: { mode: 'url', elicitationId: randomUUID(), url, message } }
}
