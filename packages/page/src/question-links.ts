// Links that let one browser answer one question only. They are sent to clients that show links to their user: such a
// client could also answer the question itself, so a link gives it no additional access. A link opens once; the form it
// opens can be sent once.
import { randomBytes } from 'node:crypto'
import { answersTo } from '@sandbridge/core/calls/permissions/ask-by-elicitation.ts'
import { answerQuestion, type KeptQuestion } from '@sandbridge/core/calls/permissions/kept-questions.ts'
import { lockedPage, notePage, questionPage } from './small-pages.ts'

const MAX_OPEN = 100

interface Reply {
  status: number
  html: string
}

export class QuestionLinks {
  readonly #stateDir: string
  readonly #links = new Map<string, KeptQuestion>()
  readonly #forms = new Map<string, KeptQuestion>()

  constructor(stateDir: string) {
    this.#stateDir = stateDir
  }

  newLink(question: KeptQuestion): string {
    return keep(this.#links, question)
  }

  /** @param action the URL that the form is sent to */
  open(link: string, action: string): Reply {
    const question = take(this.#links, link)
    if (!question) return used()
    const form = keep(this.#forms, question)
    return { status: 200, html: questionPage({ text: question.text, action, form, answers: answersTo(question) }) }
  }

  async answer(sent: URLSearchParams): Promise<Reply> {
    const question = take(this.#forms, sent.get('form') ?? '')
    if (!question) return used()
    const [words, answer] = [...answersTo(question)].find(([, one]) => one === sent.get('answer')) ?? []
    if (answer === undefined || words === undefined) return { status: 400, html: notePage('Unknown answer.') }
    const counts = await answerQuestion(this.#stateDir, question, answer)
    const note = counts ? `Answered: ${words}. You can close this page.` : 'This question no longer waits.'
    return { status: counts ? 200 : 400, html: notePage(note) }
  }
}

function keep(into: Map<string, KeptQuestion>, question: KeptQuestion): string {
  const word = randomBytes(24).toString('base64url')
  into.set(word, question)
  if (into.size > MAX_OPEN) into.delete(into.keys().next().value!)
  return word
}

function take(from: Map<string, KeptQuestion>, word: string): KeptQuestion | undefined {
  const question = from.get(word)
  from.delete(word)
  return question
}

function used(): Reply {
  return { status: 401, html: lockedPage('This link was used before, or is too old.') }
}
