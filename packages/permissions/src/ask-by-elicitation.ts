// Asks about calls through the client: a form with one choice. Only the words of a choice, in their field, are a yes. A
// no may come in any shape; anything else is no answer, and never told as a no of the user.
import { messageOf } from '@sandbridge/core/errors.ts'
import { visibleInline } from '@sandbridge/core/util/text'
import type { Asker, Question } from '@sandbridge/core/calls'

export type Answer = 'yes' | 'yes-cell' | 'yes-session' | 'yes-always' | 'yes-trust' | 'no' | 'stop'

/** What a question offers beside the usual answers. */
export interface Offer {
  /** The server whose text can be trusted. */
  trusts?: string | undefined
}

/** The usual answers, as the user reads them. */
const ANSWERS: readonly (readonly [words: string, answer: Answer])[] = [
  ['yes, this once', 'yes'],
  ['yes, calls like this for the rest of the cell', 'yes-cell'],
  ['yes, this tool for the session', 'yes-session'],
  ['yes, this tool always', 'yes-always'],
  ['no', 'no'],
  ['no, and stop the code', 'stop'],
]

/** The answers to a question. The texts are the values, because some clients do not show titles of choices. */
export function answersTo({ trusts }: Offer): Map<string, Answer> {
  if (trusts === undefined) return new Map(ANSWERS)
  const trust = [visibleInline(`yes, and always trust what ${trusts} says`), 'yes-trust'] as const
  return new Map(ANSWERS.flatMap((one) => (one[1] === 'yes-always' ? [one, trust] : [one])))
}

/** Why a question has no answer, and what to do. */
export interface NoAnswer {
  why: string
  hint: string
}

/** What the client returned is no answer: its user may not have seen the question. */
export interface Unread {
  unread: string
}

/** @param offer of the question */
export function isAnswer(text: string, offer: Offer): text is Answer {
  return [...answersTo(offer).values()].some((answer) => answer === text)
}

export function canElicit(asker: Asker): boolean {
  return asker.canAnswer(form('', new Map()))
}

export async function askByElicitation(
  asker: Asker,
  text: string,
  { timeoutMs, signal, trusts }: Offer & { timeoutMs: number; signal: AbortSignal },
): Promise<Answer | NoAnswer | Unread> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const answers = answersTo({ trusts })
  try {
    const { action, content } = await asker.ask(form(text, answers), AbortSignal.any([signal, timeout]))
    if (action === 'decline') return 'no'
    if (action === 'cancel') return CLOSED
    return (action === 'accept' && answerIn(content, answers)) || UNREADABLE
  } catch (error) {
    if (timeout.aborted) return noAnswer(timeoutMs)
    if (signal.aborted) throw error
    return { unread: failedToAsk(error) }
  }
}

const CLOSED = { why: 'the user closed the question without an answer', hint: 'Ask what they want instead.' }
const UNREADABLE = { unread: "the client's answer to the question could not be read" }
const MAX_ERROR_CHARS = 200

export function failedToAsk(error: unknown): string {
  return `the client failed to ask: ${visibleInline(messageOf(error).replaceAll(/\s+/g, ' ').slice(0, MAX_ERROR_CHARS))}`
}

function answerIn(content: unknown, answers: ReadonlyMap<string, Answer>): Answer | undefined {
  const { answer } = (content ?? {}) as { answer?: unknown }
  const meant = (text: unknown): Answer | undefined =>
    typeof text === 'string' ? (answers.get(text.trim().toLowerCase()) ?? answers.get(text)) : undefined
  const fields = typeof content === 'object' && content !== null ? Object.values(content) : [content]
  const noes = fields.flat().map(meant)
  return meant(answer) ?? noes.find((one) => one === 'stop') ?? noes.find((one) => one === 'no')
}

export function noAnswer(timeoutMs: number): NoAnswer {
  return { why: `no answer came within ${Math.round(timeoutMs / 1000)} s`, hint: 'Ask the user, and call it again.' }
}

function form(message: string, answers: ReadonlyMap<string, Answer>): Question {
  const answer = { type: 'string', title: 'Allow it?', enum: [...answers.keys()] }
  const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] }
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } }
}
