// What servers have returned, to decide what a text means that can be read in several ways. Pure.
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import type { Match } from '../by-patterns.ts'
import { findValues } from './find-values.ts'

/** Of the last results, and of each text. */
const MAX_CHARS = 1 << 18
const MAX_VALUES = 10_000

export class KnownValues {
  /** Texts with a backslash that were not searched yet: only these can be read in several ways. */
  #texts: string[] = []
  #chars = 0
  #values = new Set<string>()
  readonly #find: (text: string) => Match[]

  constructor(find: (text: string) => Match[]) {
    this.#find = find
  }

  add(result: unknown): void {
    const pending = [result]
    while (pending.length > 0 && pending.length < MAX_VALUES) {
      const one = pending.pop()
      if (typeof one === 'string') this.#addText(one)
      else if (Array.isArray(one) || isRecord(one)) for (const item of Object.values(one)) pending.push(item)
    }
  }

  #addText(text: string): void {
    if (text.length > MAX_CHARS || !text.includes('\\')) return
    this.#texts.push(text)
    this.#chars += text.length
    while (this.#chars > MAX_CHARS) this.#chars -= this.#texts.shift()!.length
  }

  /** Searches what was added, at the first question. */
  has(value: string): boolean {
    const texts = this.#texts
    this.#texts = []
    this.#chars = 0
    for (const text of texts) this.#learn(text)
    return this.#values.has(value)
  }

  #learn(text: string): void {
    const data = /^\s*[{["]/.test(text) ? parseJson(text) : undefined
    if (data !== undefined) {
      this.add(data)
      return
    }
    if (this.#values.size > MAX_VALUES) this.#values.clear()
    for (const { value } of findValues(text, this.#find)) if (value !== undefined) this.#values.add(value)
  }
}
