// Turns a session's result into the one that the cell's reader gets. No other code changes a result after its session.
import { search } from '../../calls/catalog/search-part.ts'
import type { CellResult } from '../../cell/cell-result.ts'
import { withTrustHint } from '../../calls/trust-hint.ts'
import { joinParts } from '../../cell/render/parts.ts'
import { type ShownResult, withParts } from '../../cell/render/render-result.ts'
import type { Cell, RunCellRequest } from './cell.ts'

/** Adds hints, notes and artifacts, masks personal data, and keeps the text as shown. Never rejects. */
export async function finishResult(
  ran: CellResult,
  { session, set, scope, forPerson, notes, savedArtifacts: artifacts, masker }: Cell,
  { servers, signal }: RunCellRequest,
): Promise<ShownResult> {
  const names = scope.servers.map((server) => server.name)
  const { catalog } = set.connected
  const ranking = ran.error && names.length > 0 ? await search.ifHere() : undefined
  const hinted =
    ran.error && ((await ranking?.withToolHint(ran.error, (...asked) => catalog.search(...asked), names)) ?? ran.error)
  // A call that names its servers needs no others.
  const untrusted = servers ? [] : set.configured.discovered.untrusted
  const error = hinted && withTrustHint(hinted, untrusted, forPerson)
  const whole: CellResult = {
    ...ran,
    ...(error && { error }),
    notes: [...ran.notes, ...notes],
    ...(artifacts.length > 0 && { artifacts }),
  }
  const result = withParts(masker ? await masker.result(whole, signal) : whole)
  const outputUri = ran.cell === undefined ? undefined : session.outputs.keep(ran.cell, joinParts(result.parts))
  return { ...result, ...(outputUri && { outputUri }) }
}
