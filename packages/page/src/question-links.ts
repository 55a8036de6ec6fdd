// Links that let one browser answer one question only. They are sent to clients that show links to their user: such a
// client could also answer the question itself, so a link gives it no additional access. It belongs to the browser that
// opens it first, where it opens until the question is answered: after a reload, and in other tabs.
import { randomBytes } from 'node:crypto'
import { answerQuestion } from '@sandbridge/permissions/kept-questions.ts'
import type { KeptQuestion } from '@sandbridge/core/calls'
import { answersTo } from '@sandbridge/permissions/ask-by-elicitation.ts'
import { lockedPage, notePage, questionPage } from './small-pages.ts'

const MAX_OPEN = 1_000

interface Reply {
  status: number
  html: string
  /** For the cookie of the browser that the link belongs to. */
  owner?: string
}

export class QuestionLinks {
  readonly #stateDir: string
  readonly #links = new Map<string, { question: KeptQuestion; owner?: string }>()
  readonly #forms = new Map<string, KeptQuestion>()

  constructor(stateDir: string) {
    this.#stateDir = stateDir
  }

  newLink(question: KeptQuestion): string {
    return keep(this.#links, { question })
  }

  /**
   * @param action the URL that the form is sent to
   * @param owners values of the browser's cookies
   */
  open(word: string, action: string, owners: readonly string[]): Reply {
    const link = this.#links.get(word)
    if (!link || (link.owner !== undefined && !owners.includes(link.owner))) return used()
    link.owner ??= randomBytes(24).toString('base64url')
    const { question, owner } = link
    const form = keep(this.#forms, question)
    return {
      status: 200,
      html: questionPage({ text: question.text, action, form, answers: answersTo(question) }),
      owner,
    }
  }

  async answer(sent: URLSearchParams): Promise<Reply> {
    const question = this.#forms.get(sent.get('form') ?? '')
    if (!question) return used()
    const [words, answer] = [...answersTo(question)].find(([, one]) => one === sent.get('answer')) ?? []
    if (answer === undefined || words === undefined) return { status: 400, html: notePage('Unknown answer.') }
    for (const [form, of] of this.#forms) if (of === question) this.#forms.delete(form)
    for (const [word, link] of this.#links) if (link.question === question) this.#links.delete(word)
    const counts = await answerQuestion(this.#stateDir, question, answer)
    const note = counts ? `Answered: ${words}. You can close this page.` : 'This question is no longer open.'
    return { status: counts ? 200 : 400, html: notePage(note) }
  }
}

function keep<T>(into: Map<string, T>, one: T): string {
  const word = randomBytes(24).toString('base64url')
  into.set(word, one)
  if (into.size > MAX_OPEN) into.delete(into.keys().next().value!)
  return word
}

function used(): Reply {
  return { status: 401, html: lockedPage('This link was used before, or is too old.') }
}
