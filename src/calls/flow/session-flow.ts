// What is known of one session: where its values come from, and whose text its model has read.
import type { FlowFacts, ValueOrigin } from '../../config/rules/flow.ts'
import { literalsOf } from './literals.ts'
import { OriginIndex, type Source } from './origin-index.ts'

/** So many distinct words of a server are its text, even if no three of them stand in a row. */
const TEXT_WORDS = 4
/** So many distinct words that nobody is known to have written came from data that could not be read. */
const UNKNOWN_TEXT_WORDS = 8

export interface ShownContent {
  text: string
  /** Images, sounds or files are shown. */
  hasMedia: boolean
}

export class SessionFlow {
  readonly #index = new OriginIndex()
  readonly #seen = new Set<string>()
  readonly #returned = new Set<string>()
  readonly #isTrusted: (server: string) => boolean

  /** @param isTrusted whether the user trusts the text of a server */
  constructor(isTrusted: (server: string) => boolean) {
    this.#isTrusted = isTrusted
  }

  /** Size of the index in memory. */
  get bytes(): number {
    return this.#index.bytes
  }

  /** The servers that the user does not trust and whose text the model has read. */
  get seen(): string[] {
    return [...this.#seen].filter((server) => !this.#isTrusted(server))
  }

  /** The model wrote this code. @param isShell all of it can be data */
  wrote(code: string, isShell = false): void {
    this.#index.addKnown(code)
    for (const literal of isShell ? [code] : literalsOf(code)) this.#index.addWritten(literal)
  }

  /** The bridge told the cell this, such as documentation of tools. */
  told(value: unknown): void {
    if (value !== undefined) this.#index.addKnown(JSON.stringify(value) ?? '')
  }

  /** A server returned this, as a result or an error. */
  returned(source: Source, value: unknown): void {
    this.#returned.add(source.server)
    this.#index.addResult(source, value)
  }

  /** The model is shown this. */
  shown({ text, hasMedia }: ShownContent): void {
    if (this.#returned.size === 0) return
    const { runs, words, unknownWords } = this.#index.shown(text)
    for (const server of runs) this.#seen.add(server)
    for (const [server, count] of words) if (count >= TEXT_WORDS) this.#seen.add(server)
    // An image may show any text.
    if (hasMedia || unknownWords >= UNKNOWN_TEXT_WORDS) for (const server of this.#index.partial) this.#seen.add(server)
  }

  /** What rules and questions need to know about a value. */
  originOf(value: unknown): ValueOrigin {
    const { sources, isModels, unknownWords } = this.#index.originOf(value)
    return {
      servers: sources.map(({ server }) => server),
      names: sources.map(({ server, name }) => (name === '' ? server : `${server}.${name}`)),
      isModels,
      isUnknown: unknownWords > 0,
    }
  }

  /** The facts for rules about a call. */
  facts(): FlowFacts {
    return {
      seen: this.seen,
      originOf: (value) => this.originOf(value),
      isTrusted: this.#isTrusted,
    }
  }
}
