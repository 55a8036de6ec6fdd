// Keeps a bridge's recent cells for pages that open later. The memory is limited: old cells lose their output and keep
// their outline.
import type { PageEvent } from './page-event.ts'
import { applyEvent, type CellView, emptyState, type PageState } from './page-state.ts'

const MAX_CELLS = 10_000
const MAX_SESSIONS = 1_000
/** Limit of code, output and calls of all cells together. */
const MAX_CHARS = 64 * 1024 * 1024
/** Assumed size of an object beside its texts. */
const CALL_COST = 200

export class History {
  readonly state: PageState = emptyState()
  readonly #limits: { cells: number; chars: number }
  readonly #sizes = new Map<string, number>()
  #chars = 0

  constructor(limits = { cells: MAX_CELLS, chars: MAX_CHARS }) {
    this.#limits = limits
  }

  add(event: PageEvent): void {
    applyEvent(this.state, event)
    const id = 'parent' in event && event.parent !== undefined ? event.parent : event.id
    if (this.state.cells.has(id)) this.#grow(id, sizeOf(event))
    this.#forgetOldest()
  }

  #grow(id: string, by: number): void {
    this.#sizes.set(id, (this.#sizes.get(id) ?? 0) + by)
    this.#chars += by
  }

  #forgetOldest(): void {
    const { cells, sessions } = this.state
    while (cells.size > this.#limits.cells) {
      const [oldest] = cells.keys()
      cells.delete(oldest!)
      this.#shrink(oldest!)
    }
    while (sessions.size > MAX_SESSIONS) sessions.delete(sessions.keys().next().value!)
    for (const id of this.#chars > this.#limits.chars ? [...this.#sizes.keys()] : []) {
      if (this.#chars <= this.#limits.chars) return
      const cell = cells.get(id)
      if (cell?.status === 'running') continue
      this.#shrink(id)
      if (cell) forget(cell)
    }
  }

  #shrink(id: string): void {
    this.#chars -= this.#sizes.get(id) ?? 0
    this.#sizes.delete(id)
  }
}

function forget(cell: CellView): void {
  cell.dropped += cell.kept
  cell.kept = 0
  cell.parts = []
  cell.calls = []
  cell.value = undefined
}

function sizeOf(event: PageEvent): number {
  switch (event.type) {
    case 'cell.started':
      return event.code.length
    case 'cell.output':
      return event.text.length
    case 'cell.display':
      return shownSize(event.shown)
    case 'cell.ended':
      return event.value ? shownSize(event.value) : 0
    case 'call.started':
      return event.args.length + CALL_COST
    case 'call.denied':
      return event.rule.length + CALL_COST
    case 'call.ended':
      return (event.result ?? event.error ?? '').length
    default:
      return 0
  }
}

const shownSize = ({ text = '', image }: { text?: string | undefined; image?: { data: string } | undefined }): number =>
  text.length + (image?.data.length ?? 0)
