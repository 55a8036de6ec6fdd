// Finds the answer of an authorization server in what people paste: the final address of their browser, whole or from
// `?` on, in quotes or brackets, broken into lines. Pure.

/** What terminals put around a paste, and what people do. */
const MARKS = /\p{Cc}\[20[01]~|\p{Cc}/gu
/** More lines than a terminal breaks an address into. */
const MAX_LINES = 10

export class PastedAnswer {
  readonly #state: string
  #lines: string[] = []

  /** @param state of the sign-in */
  constructor(state: string) {
    this.#state = state
  }

  /** @returns the answer, once it is complete, or what to tell the user, who is asked again */
  add(line: string): URLSearchParams | string {
    const text = line.replaceAll(MARKS, '').trim()
    if (text === '') return 'Nothing was pasted.'
    this.#lines = [...this.#lines, text].slice(-MAX_LINES)
    // The address may begin with any of the lines: those before it were slips.
    const found = this.#lines.map((_, first) => parametersIn(this.#lines.slice(first).join(''))).toReversed()
    const own = found.find((parameters) => parameters.get('state') === this.#state && isAnswer(parameters))
    if (own) return own
    const [last] = found
    if (last && isAnswer(last) && last.has('state')) return 'This address belongs to another login.'
    if (last?.has('code') && !last.has('state')) return 'The address is incomplete: copy all of it, to its end.'
    return 'This is not the whole final address: it has code=… and state=….'
  }
}

function isAnswer(parameters: URLSearchParams): boolean {
  return parameters.has('code') || parameters.has('error')
}

function parametersIn(text: string): URLSearchParams {
  const bare = text.replace(/^["'<`([]+/, '').replace(/["'>`)\],;]+$/, '')
  const query = bare.includes('?') ? bare.slice(bare.indexOf('?') + 1) : bare
  return new URLSearchParams(query.replace(/#.*$/s, '').replaceAll('&amp;', '&'))
}
