// Questions about calls whose client cannot ask: how the user learns of the page where they can be answered. Links reach the user's own log and browser,
// and a client that shows links to its user; never the sandbox, a result or an error.
import { randomUUID } from 'node:crypto'
import { openBrowser } from '../../process/open-browser.ts'
import type { KeptQuestion, KeptQuestions } from '../../state/kept-questions.ts'
import type { Asker, Question } from '../user/questions.ts'
import { type Answer, isAnswer } from './ask-by-elicitation.ts'

/** Where the user can answer, beside a terminal. */
export interface AnswerPage {
  /** It opens only in a browser that was let in. */
  readonly address: string
  /** Is it open in a browser? */
  readonly isOpen: boolean
  /** Lets the browser in that opens it first, to all questions. */
  newLink(view: 'ask'): string
  /** Lets the browser that opens it first answer one question, and nothing else. */
  linkTo(question: KeptQuestion): string
  close(): void
}

/** For so long a browser that was opened may take to show the page. */
const OPENING_MS = 30_000

/** Opens the page in the user's browser, unless it is there already: questions come in bursts. */
export class Browser {
  #openedAt = -Infinity

  show(page: AnswerPage, link: string): void {
    const now = performance.now()
    if (page.isOpen || now - this.#openedAt < OPENING_MS) return
    this.#openedAt = now
    openBrowser(link)
  }
}

export function canShowLinks(asker: Asker): boolean {
  return asker.canAnswer(linkTo('', ''))
}

/** The client shows its user a link to the question, and the answer is given there. @returns undefined when none comes in time */
export async function askByLink(
  asker: Asker,
  { question, link, questions }: { question: KeptQuestion; link: string; questions: KeptQuestions },
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Answer | undefined> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const over = AbortSignal.any([signal, timeout])
  try {
    const { action } = await asker.ask(linkTo(link, `${question.text}\nOpen the link to answer.`), over)
    if (action !== 'accept') return 'no'
    const answer = await asker.hold(questions.answerTo(question.id, over))
    if (answer === undefined) return undefined
    return isAnswer(answer) ? answer : 'no'
  } catch (error) {
    if (timeout.aborted) return undefined
    throw error
  } finally {
    await questions.withdraw(question.id)
  }
}

/** URL elicitation (MCP 2025-11-25, Elicitation, URL Mode). */
function linkTo(url: string, message: string): Question {
  return { method: 'elicitation/create', params: { mode: 'url', elicitationId: randomUUID(), url, message } }
}
