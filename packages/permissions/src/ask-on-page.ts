// Questions about calls when the client cannot ask: tells the user about the page where they can answer. Links go to
// the user's own log, and to a client that shows links to its user; never to the sandbox, a result or an
// error.
import { randomUUID } from 'node:crypto'
import type { KeptQuestion, Asker, Question } from '@sandbridge/core/calls'
import type { KeptQuestions } from './kept-questions.ts'
import { type Answer, isAnswer } from './ask-by-elicitation.ts'
import { MAX_ASKED_CHARS } from './question-text.ts'

const TOO_LONG = 'The code that is running wants to make a call whose arguments only the page can show.'

export function canShowLinks(asker: Asker): boolean {
  return asker.canAnswer(linkTo('', ''))
}

/**
 * Asks the client to show its user a link, and waits for the answer on the page.
 * @returns undefined when no answer comes in time
 */
export async function askByLink(
  asker: Asker,
  { question, link, questions }: { question: KeptQuestion; link: string; questions: KeptQuestions },
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Answer | undefined> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const over = AbortSignal.any([signal, timeout])
  try {
    const shown = question.text.length > MAX_ASKED_CHARS ? TOO_LONG : question.text
    const { action } = await asker.ask(linkTo(link, `${shown}\nOpen the link to answer.`), over)
    if (action !== 'accept') return 'no'
    return await answerOf({ question, questions, hold: (work) => asker.hold(work) }, over)
  } catch (error) {
    if (timeout.aborted) return undefined
    throw error
  } finally {
    await questions.withdraw(question.id)
  }
}

interface Held {
  question: KeptQuestion
  questions: KeptQuestions
  hold: Asker['hold']
}

/**
 * Waits for the answer to a question that the page shows in the cell that asks.
 * @returns undefined when no answer comes in time
 */
export async function askInCell(
  held: Held,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Answer | undefined> {
  try {
    return await answerOf(held, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
  } finally {
    await held.questions.withdraw(held.question.id)
  }
}

async function answerOf({ question, questions, hold }: Held, over: AbortSignal): Promise<Answer | undefined> {
  const answer = await hold(questions.answerTo(question.id, over))
  return answer === undefined || isAnswer(answer, question) ? answer : 'no'
}

/** URL elicitation (MCP 2025-11-25, Elicitation, URL Mode). */
function linkTo(url: string, message: string): Question {
  return { method: 'elicitation/create', params: { mode: 'url', elicitationId: randomUUID(), url, message } }
}
