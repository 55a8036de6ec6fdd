// Turns a session's result into the one that the cell's reader gets. No other code changes a result after its session.
import type { Catalog } from '../catalog/catalog.ts'
import type { CellResult } from '../cell/cell-result.ts'
import type { ServerDefinition } from '../config/server-definition.ts'
import { maskResult } from '../masking/mask-result.ts'
import type { Masker } from '../masking/masker.ts'
import type { Scope } from '../proxy/scope.ts'
import { withToolHint } from '../proxy/tool-hint.ts'
import { withTrustHint } from '../proxy/trust-hint.ts'
import { joinParts } from '../render/parts.ts'
import { type ShownResult, withParts } from '../render/render-result.ts'
import type { OutputStore } from '../session/output-store.ts'
import type { Artifact } from '../state/artifact-store.ts'

interface Additions {
  catalog: Catalog
  scope: Scope
  /** Untrusted servers that a hint may name; empty when the call named its servers. */
  untrusted: readonly ServerDefinition[]
  forPerson: boolean
  notes: Iterable<string>
  artifacts: Artifact[]
  /** Undefined when masking is off. */
  masker: Masker | undefined
  signal: AbortSignal | undefined
  /** Keeps the shown text. */
  outputs: OutputStore
}

/** Adds hints, notes and artifacts, masks personal data, and keeps the text as shown. Never rejects. */
export async function finishResult(
  ran: CellResult,
  { catalog, scope, untrusted, forPerson, notes, artifacts, masker, signal, outputs }: Additions,
): Promise<ShownResult> {
  const hinted = ran.error && (await withToolHint(ran.error, catalog, scope))
  const error = hinted && withTrustHint(hinted, untrusted, forPerson)
  const whole: CellResult = {
    ...ran,
    ...(error && { error }),
    notes: [...ran.notes, ...notes],
    ...(artifacts.length > 0 && { artifacts }),
  }
  const result = withParts(masker ? await maskResult(whole, masker, signal) : whole)
  const outputUri = ran.cell === undefined ? undefined : outputs.keep(ran.cell, joinParts(result.parts))
  return { ...result, ...(outputUri && { outputUri }) }
}
