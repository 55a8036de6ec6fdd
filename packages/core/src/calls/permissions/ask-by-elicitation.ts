// Asks about calls through the client: a form with one choice. An unclear answer counts as a no.
import { visibleInline } from '../../util/text/visible.ts'
import type { Asker, Question } from '../questions/questions.ts'

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
): Promise<Answer | NoAnswer> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const answers = answersTo({ trusts })
  try {
    const { action, content } = await asker.ask(form(text, answers), AbortSignal.any([signal, timeout]))
    if (action !== 'accept') return 'no'
    const answer = (content as { answer?: unknown } | undefined)?.answer
    return (typeof answer === 'string' ? answers.get(answer) : undefined) ?? 'no'
  } catch (error) {
    if (!timeout.aborted) throw error
    return noAnswer(timeoutMs)
  }
}

export function noAnswer(timeoutMs: number): NoAnswer {
  return { why: `no answer came within ${Math.round(timeoutMs / 1000)} s`, hint: 'Ask the user, and call it again.' }
}

function form(message: string, answers: ReadonlyMap<string, Answer>): Question {
  const answer = { type: 'string', title: 'Allow it?', enum: [...answers.keys()] }
  const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] }
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } }
}
