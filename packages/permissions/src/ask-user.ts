// Asks the user one question about calls of a cell: through its client, in a terminal, or on the page.
import { newId, ofCell } from '@sandbridge/core/observe/events'
import type { Decision } from '@sandbridge/core/config/rules'
import { flowRuleHint } from './denied.ts'
import type { Asker, Permissions } from '@sandbridge/core/calls'
import type { CatalogTool } from '@sandbridge/core/calls/catalog'
import { askByLink, askInCell, canShowLinks } from './ask-on-page.ts'
import {
  type Answer,
  askByElicitation,
  canElicit,
  failedToAsk,
  isAnswer,
  type NoAnswer,
  noAnswer,
  type Offer,
  type Unread,
} from './ask-by-elicitation.ts'
import { hasLongName, MAX_SHOWN_CHARS } from './call-text.ts'
import { exactKey, type GrantableCall } from './grants.ts'
import { stateOf } from './set-state.ts'
import type { CellOf } from '@sandbridge/core/parts'
import { MAX_ASKED_CHARS, withoutOpening } from './question-text.ts'

/** A call that the rules ask about. */
export interface Asked {
  tool: CatalogTool
  call: GrantableCall
  decision: Decision
}

interface Asking extends Offer {
  permissions: Permissions
  cell: CellOf
  signal: AbortSignal
}

/** Returns the answer, or the reason for having none. */
export async function askUser(
  text: string,
  group: readonly Asked[],
  { permissions, cell, signal, trusts }: Asking,
): Promise<Answer | NoAnswer> {
  const { asker, allowed, keepsQuestions } = cell
  if (allowed) return unwatched(group)
  // A yes is only for what could be read.
  if (group.some(({ call }) => hasLongName(call.args))) return LONG_NAME
  if (text.length > MAX_SHOWN_CHARS) return tooLong(MAX_SHOWN_CHARS)
  const asking = { permissions, cell, signal, trusts }
  const fits = text.length <= MAX_ASKED_CHARS
  if (!asker || !canElicit(asker) || !fits || unable.has(asker)) {
    const why = asker && unable.has(asker) ? "the client's answer could not be read" : undefined
    if (keepsQuestions) return keptAnswer(text, group, asking, why)
    return fits ? noTerminal(group) : tooLong(MAX_ASKED_CHARS)
  }
  const earlier = keepsQuestions ? await givenAnswer(text, group, asking) : undefined
  if (earlier !== undefined) return earlier
  const state = stateOf(permissions)
  if (!state.hasRoom) return { why: 'too many questions are open', hint: 'Wait until they are answered.' }
  const end = tellQuestion(text, group, cell)
  state.openQuestions += 1
  let answer: Answer | NoAnswer | Unread | undefined
  try {
    const timeoutMs = permissions.options.settings.askTimeoutMs
    answer = await askByElicitation(asker, text, { timeoutMs, signal, trusts })
  } finally {
    state.openQuestions -= 1
    end(typeof answer === 'string' ? answer : 'unanswered')
  }
  if (typeof answer === 'string' || 'why' in answer) return answer
  unable.add(asker)
  return keepsQuestions
    ? keptAnswer(text, group, asking, answer.unread)
    : { why: answer.unread, hint: noTerminal(group).hint }
}

/** Askers of running cells that were asked and returned no answer: they are asked once. */
const unable = new WeakSet<Asker>()

function keptId(text: string, group: readonly Asked[], { permissions, cell }: Asking): string {
  const calls = group.map(({ call }) => exactKey(call)).join('\n')
  return stateOf(permissions).kept.idOf(cell.session, `${calls}\n${withoutOpening(text)}`)
}

/** The answer that the user has given elsewhere since an earlier run. */
async function givenAnswer(text: string, group: readonly Asked[], asking: Asking): Promise<Answer | undefined> {
  const { permissions, cell, trusts } = asking
  const answer = await stateOf(permissions).kept.take(keptId(text, group, asking))
  if (answer === undefined) return undefined
  tellQuestion(text, group, cell)(answer)
  return isAnswer(answer, { trusts }) ? answer : 'no'
}

/**
 * For a client that cannot ask: returns the answer that the user gave since an earlier run in a terminal or on the
 * page, or asks by a link.
 */
async function keptAnswer(
  text: string,
  group: readonly Asked[],
  asking: Asking,
  unread?: string,
): Promise<Answer | NoAnswer> {
  const { permissions, cell, signal, trusts } = asking
  const { options } = permissions
  const questions = stateOf(permissions).kept
  const timeoutMs = options.settings.askTimeoutMs
  const { asker, origin, hold } = cell
  const answer = await givenAnswer(text, group, asking)
  if (answer !== undefined) return answer
  const id = keptId(text, group, asking)
  const question = await questions.keep(id, text, { cell: hold && origin.cell, trusts })
  if (!question) return { why: 'too many questions are open', hint: 'Wait until they are answered.' }
  const limits = { timeoutMs, signal }
  const wait = async (ask: () => Promise<Answer | undefined>): Promise<Answer | NoAnswer> => {
    const end = tellQuestion(text, group, cell)
    let given: Answer | undefined
    try {
      given = await ask()
    } finally {
      end(given ?? 'unanswered')
    }
    return given ?? noAnswer(timeoutMs)
  }
  if (hold) return wait(() => askInCell({ question, questions, hold }, limits))
  const page = await options.page()
  if (page && asker && canShowLinks(asker) && !unable.has(asker)) {
    try {
      return await wait(() => askByLink(asker, { question, link: page.linkTo(question), questions }, limits))
    } catch (error) {
      if (signal.aborted) throw error
      unable.add(asker)
      return keptAnswer(text, group, asking, failedToAsk(error))
    }
  }
  const link = page?.newLink('ask')
  const what = 'A call waits for an answer: run `sandbridge approve`, or open the link'
  origin.log.warnUser(what, { question: id }, { link })
  const isTooLong = text.length > MAX_ASKED_CHARS && asker && canElicit(asker)
  const why = unread ?? (isTooLong ? tooLong(MAX_ASKED_CHARS).why : 'this client cannot ask its user')
  return { why, hint: unasked(page?.address) }
}

function tellQuestion(message: string, group: readonly Asked[], { events, origin }: CellOf): (answer: string) => void {
  if (!events.active) return () => {}
  const about = { id: newId(), ...ofCell(origin), method: 'permission' }
  const askedAt = performance.now()
  const calls = group.map(({ call: { server, tool: name, args } }) => ({ server, name, args }))
  events.emit({ type: 'question.asked', ...about, message, calls })
  return (answer) =>
    events.emit({ type: 'question.answered', ...about, answer, durationMs: performance.now() - askedAt })
}

function unwatched(group: readonly Asked[]): NoAnswer {
  const hint = 'Schedule the workflow again with --allow SERVER__TOOL, or allow it by a rule in permissions.json.'
  return { why: 'a scheduled run is unattended', hint: flowHint(group) ?? hint }
}

/** For the first call of which the flow is asked about. */
function flowHint(group: readonly Asked[]): string | undefined {
  const [first] = group.flatMap(({ call, decision: { flow } }) => (flow ? [flowRuleHint(call, flow)] : []))
  return first
}

const LONG_NAME = {
  why: 'one of its arguments has a name that is too long to show',
  hint: 'Use shorter names, or ask the user to allow the tool by a rule in permissions.json.',
}

function tooLong(limit: number): NoAnswer {
  return {
    why: `its arguments are longer than a question can show (${limit.toLocaleString('en')} characters)`,
    hint: 'Pass less at a time, or ask the user to allow the tool by a rule in permissions.json.',
  }
}

/** For a command that runs in a pipe or a job. */
function noTerminal(group: readonly Asked[]): NoAnswer {
  const names = [...new Set(group.map(({ call: { server, tool } }) => `${server}__${tool}`))]
  const hint = `Run it in a terminal to be asked, or allow it for good: sandbridge permissions --allow ${names.join(' ')}`
  return { why: 'there is no terminal to ask in', hint: flowHint(group) ?? hint }
}

/** Code in the sandbox can read this: it may know the page's address, but must not get a link that opens it. */
function unasked(page: string | undefined): string {
  const place = page === undefined ? '' : `answer at ${page}, or to `
  return `Ask the user to ${place}run \`sandbridge approve\` in a terminal, and run the same code again afterwards. A rule in permissions.json can allow it, too.`
}
