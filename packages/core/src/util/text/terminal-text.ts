// Output as a terminal finally shows it: no colours, progress bars in their last state. Never fails. Pure.
import { MOVES, SCREEN_LINES, TerminalScreen } from '../terminal/terminal-screen.ts'
import { withHiddenShown } from './hidden-text.ts'

/** Longest unfinished line that waits for a carriage return. */
const MAX_OPEN_LINE = 64 * 1024
/** An unfinished line of this length forgets its earlier states. */
const MAX_STATES = 512
/** Characters that are held back without counting their lines. */
const MAX_HELD = 16 * 1024

/* oxlint-disable no-control-regex -- control characters are what this file is about */
const SPECIAL = /[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]/
// CSI (colours, cursor), OSC (titles, links), and the rest (ECMA-48, 5.3 to 5.6).
const ESCAPE_SEQUENCE = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?/g
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g
/* oxlint-enable no-control-regex */
const LONE_SURROGATE = /\p{Surrogate}/gu

export function plainText(text: string): string {
  if (!SPECIAL.test(text)) return text
  if (!MOVES.test(text)) return plainLines(text)
  const terminal = new TerminalText()
  return terminal.push(text) + terminal.end()
}

/** The same for a text in which the cursor stays on its line. */
function plainLines(text: string): string {
  return SPECIAL.test(text) ? withoutControls(lastStates(withoutEscapes(text))) : text
}

/** A text for a reader: what reorders the text around it, or is not seen, becomes visible escapes. */
export function shownText(text: string): string {
  return withHiddenShown(plainText(text))
}

/** Converts a text in pieces: each call returns the part that can no longer change, `end` the rest. */
export class TerminalText {
  /** The unfinished line, which a carriage return may still replace. */
  #open = ''
  /** The lines before it, which the cursor may still reach. */
  #held = ''
  /** From the first move of the cursor on. */
  #screen: TerminalScreen | undefined
  readonly #isLive: boolean

  /** @param isLive lines are returned as soon as they end: moves of the cursor change nothing of them */
  constructor({ isLive = false }: { isLive?: boolean } = {}) {
    this.#isLive = isLive
  }

  push(piece: string): string {
    if (this.#screen) return withoutControls(this.#screen.write(piece))
    const text = this.#open + piece
    const move = this.#isLive ? -1 : text.search(MOVES)
    if (move >= 0) return this.#toScreen(text, move)
    const lineStart = text.lastIndexOf('\n') + 1
    this.#open = text.slice(lineStart)
    // A move of the cursor that comes later reaches what a short line has shown before.
    if (this.#open.length > MAX_STATES && this.#open.includes('\r')) this.#open = openState(this.#open)
    if (this.#open.length > MAX_OPEN_LINE) return this.end(text.slice(0, lineStart))
    const lines = plainLines(text.slice(0, lineStart))
    return this.#isLive ? lines : this.#passed(lines)
  }

  end(before = ''): string {
    const text = before + this.#open
    const ended = this.#screen ? withoutControls(this.#screen.end()) : this.#held + plainLines(text)
    this.#open = this.#held = ''
    this.#screen = undefined
    return ended
  }

  /** Holds the last lines back, and more where that saves work. @returns those before them */
  #passed(lines: string, isLast = false): string {
    const text = this.#held + lines
    if (text.length < MAX_HELD && !isLast) {
      this.#held = text
      return ''
    }
    let from = text.length
    for (let count = 0; count <= SCREEN_LINES && from > 0; count += 1) from = text.lastIndexOf('\n', from - 2) + 1
    from = text.length - from > MAX_OPEN_LINE ? text.length : from
    this.#held = text.slice(from)
    return text.slice(0, from)
  }

  #toScreen(text: string, move: number): string {
    const lineStart = text.lastIndexOf('\n', move) + 1
    const passed = this.#passed(plainLines(text.slice(0, lineStart)), true)
    this.#screen = new TerminalScreen(this.#held)
    this.#open = this.#held = ''
    return passed + withoutControls(this.#screen.write(text.slice(lineStart)))
  }
}

function withoutEscapes(text: string): string {
  return text.replace(ESCAPE_SEQUENCE, '')
}

function lastStates(text: string): string {
  const lines = text.replaceAll('\r\n', '\n')
  if (!/[\r\b]/.test(lines)) return lines
  return lines
    .split('\n')
    .map((line) => withoutBackspaces(line.includes('\r') ? lastState(line) : line))
    .join('\n')
}

/** What a line shows after its carriage returns; of a progress bar that clears itself, the last state. */
function lastState(line: string): string {
  for (let end = line.length; end > 0;) {
    const start = line.lastIndexOf('\r', end - 1) + 1
    const state = line.slice(start, end)
    if (!isBlank(state)) return state
    end = start - 1
  }
  return ''
}

/** The same for an unfinished line. The part after the last return may still be blank, or the first half of CR LF. */
function openState(line: string): string {
  const start = line.lastIndexOf('\r') + 1
  const last = line.slice(start)
  return isBlank(last) ? `${lastState(line.slice(0, start))}\r${last}` : last
}

function isBlank(state: string): boolean {
  return withoutEscapes(state).trim() === ''
}

function withoutBackspaces(line: string): string {
  if (!line.includes('\b')) return line
  const kept: string[] = []
  for (const character of line) {
    if (character === '\b') kept.pop()
    else kept.push(character)
  }
  return kept.join('')
}

function withoutControls(text: string): string {
  return text.replace(CONTROL, shown).replace(LONE_SURROGATE, '\ufffd')
}

/** Returns the Unicode picture of a control character. */
function shown(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
}
