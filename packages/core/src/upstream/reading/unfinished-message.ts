// A message that a process writes over several lines, as it is written for people to read. Pure.
import { BracketState } from './brackets.ts'

/** A line that begins like JSON, not like a log that begins with a bracket. */
const START = /^\s*[[{]\s*(?:$|"|\{)/

export class UnfinishedMessage {
  readonly #maxChars: number
  #lines: string[] = []
  #chars = 0
  #brackets = new BracketState()
  isWhole = false

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  /** False for a line that neither begins such a message nor belongs to one. */
  add(line: string): boolean {
    const isOpen = this.#lines.length > 0
    if (!isOpen && !START.test(line)) return false
    const end = this.#brackets.push(line)
    if (!isOpen && end !== undefined) {
      this.take()
      return false
    }
    this.#lines.push(line)
    this.#chars += line.length
    this.isWhole = end !== undefined || this.#chars > this.#maxChars
    return true
  }

  /** The lines so far, which are forgotten. */
  take(): string {
    const text = this.#lines.join('\n')
    this.#lines = []
    this.#chars = 0
    this.#brackets = new BracketState()
    this.isWhole = false
    return text
  }
}
