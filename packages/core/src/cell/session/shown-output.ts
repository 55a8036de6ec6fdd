// What a cell has shown: text and displays in order, in bounded memory; both may be replaced or taken back.
import type { MimeBundle } from '../protocol/frames.ts'
import { TerminalText } from '../../util/text/terminal-text.ts'
import { OutputBuffer } from './output-buffer.ts'

/** Limits on kept displays, in number and in characters: a hostile cell could fill the bridge's memory. */
const MAX_DISPLAYS = 100
const MAX_DISPLAY_CHARS = 32 * 1024 * 1024

interface Displayed {
  data: MimeBundle
  id: string | undefined
  chars: number
  /** What had been printed before it. */
  place: number
}

export class ShownOutput {
  #stdout = new KeptStream()
  #stderr = new KeptStream()
  #displays: Displayed[] = []
  #chars = 0
  #dropped = 0
  #clearsNext = false

  print(stream: 'stdout' | 'stderr', text: string): void {
    this.#begin()
    ;(stream === 'stdout' ? this.#stdout : this.#stderr).append(text)
  }

  display(data: MimeBundle, id?: string): void {
    this.#begin()
    const chars = sizeOf(data)
    const index = id === undefined ? -1 : this.#displays.findIndex((one) => one.id === id)
    const replaced = this.#displays[index]
    const total = this.#chars + chars - (replaced?.chars ?? 0)
    if (total > MAX_DISPLAY_CHARS || (!replaced && this.#displays.length >= MAX_DISPLAYS)) {
      this.#dropped += 1
      return
    }
    this.#chars = total
    if (replaced) this.#displays[index] = { ...replaced, data, chars }
    else this.#displays.push({ data, id, chars, place: this.#stdout.place() })
  }

  /** @param waits until the cell shows more */
  clear(waits: boolean): void {
    this.#clearsNext = waits
    if (waits) return
    this.#stdout = new KeptStream()
    this.#stderr = new KeptStream()
    this.#displays = []
    this.#chars = 0
  }

  /** Call once, when the cell has ended. */
  finish(): { stdout: string; stderr: string; displays: MimeBundle[]; displayedAt: number[] } {
    const stdout = this.#stdout.finish(this.#displays.map(({ place }) => place))
    let printed = 0
    return {
      stdout: stdout.join(''),
      stderr: this.#stderr.finish().join(''),
      displays: this.#displays.map(({ data }) => data),
      displayedAt: this.#displays.map((_, index) => (printed += stdout[index]!.length)),
    }
  }

  notes(): string[] {
    if (this.#dropped === 0) return []
    const dropped = this.#dropped === 1 ? '1 displayed value was' : `${this.#dropped} displayed values were`
    const room = `${MAX_DISPLAYS}, of ${MAX_DISPLAY_CHARS >> 20} MiB together`
    return [`${dropped} dropped: a cell can display ${room}. Use \`print\` for many texts.`]
  }

  #begin(): void {
    if (this.#clearsNext) this.clear(false)
  }
}

/** One output stream of a cell, as a terminal would finally show it, in bounded memory. */
class KeptStream {
  readonly #text = new TerminalText()
  #buffer = new OutputBuffer()

  append(piece: string): void {
    this.#buffer.append(this.#text.push(piece))
  }

  /** Where the next text will be. What comes then cannot change the line before it. */
  place(): number {
    this.#buffer.append(this.#text.end())
    return this.#buffer.length
  }

  /** Call once, when the cell has ended. @returns the text in pieces that end at these places, and the rest */
  finish(places: readonly number[] = []): string[] {
    this.#buffer.append(this.#text.end())
    const pieces = this.#buffer.split(places)
    // Frees up to several megabytes.
    this.#buffer = new OutputBuffer()
    return pieces
  }
}

function sizeOf(bundle: MimeBundle): number {
  return Object.values(bundle).reduce<number>(
    (sum, content) => sum + (typeof content === 'string' ? content : (JSON.stringify(content) ?? '')).length,
    0,
  )
}
