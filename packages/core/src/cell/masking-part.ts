// Masking of personal data, as far as the core knows it.
import type { OtherLanguage } from '../config/settings/cells.ts'
import type { MaskKind } from '../config/settings/sandbox.ts'
import type { BridgeError } from '../errors.ts'
import { Part } from '../util/part.ts'
import type { CellResult } from './cell-result.ts'
import type { CellListeners } from './session/cell-run.ts'

export const masking = new Part<MaskingPart>('masking')

interface MaskingPart {
  /** @throws BridgeError CONFIG_INVALID for an unsupported pattern */
  createMaskers: (wanted: MaskedData) => Maskers
}

export interface MaskedData {
  kinds?: readonly MaskKind[]
  /** The user's own patterns. */
  patterns?: readonly { name: string; pattern: string }[]
  /** Finds names: see docs/masking.md. */
  endpoint?: string | undefined
}

export interface Maskers {
  /** Returns a session's masker; always the same one. */
  of(session: object): CellMasker
  /** Returns the masker of what several sessions may read; always the same one. No session puts its tokens back. */
  shared(readers: object): CellMasker
}

/** Masks one text. In data, the text is the value of `key`. */
export type Mask = (text: string, key?: string) => string

/** Replaces personal data with tokens on its way to the model, and puts it back on the way from the model. */
export interface CellMasker {
  /** Runs `work`, perhaps several times, with a function that masks texts. @throws BridgeError MASK_UNAVAILABLE */
  masked<T>(work: (mask: Mask) => T, signal?: AbortSignal): Promise<T>
  /** Masks one text; undefined if that takes longer. */
  maskedNow(text: string, key?: string): string | undefined
  /** Masks every text and number of data. @throws BridgeError MASK_UNAVAILABLE */
  maskedData(data: unknown): Promise<unknown>
  /** Masks what a client gets of a call that it makes itself. @throws BridgeError MASK_UNAVAILABLE */
  reply<Reply extends { result: unknown; notes: string[] }>(reply: Reply): Promise<Reply>
  /** The same error without personal data. @throws BridgeError MASK_UNAVAILABLE */
  failure(error: BridgeError): Promise<BridgeError>
  /** What a call returned to the cell: it decides what the cell's output means. */
  returned(result: unknown): void
  unmask(text: string): string
  /** @param language undefined for Python */
  unmaskSource(code: string, language: OtherLanguage | undefined): string
  unmaskData(data: unknown): unknown
  /** Masks a result. If it cannot be searched, removes everything that the cell produced. Never rejects. */
  result(result: CellResult, signal?: AbortSignal): Promise<CellResult>
  /** Masks progress messages. Drops output: a value may be split over two pieces, and the result has all of it. */
  listeners(listeners: CellListeners): CellListeners
  /** Masks a server's request to the client's model, and puts the values back into its reply. */
  asker<Q extends AskedQuestion>(asker: AsksModel<Q>): AsksModel<Q>
}

export interface AskedQuestion {
  method: string
  params: Record<string, unknown>
}

export interface AsksModel<Q extends AskedQuestion> {
  canAnswer(question: Q): boolean
  ask(question: Q, signal: AbortSignal | undefined): Promise<Record<string, unknown>>
  hold<T>(work: Promise<T>): Promise<T>
}
