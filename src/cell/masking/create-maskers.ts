// Creates the maskers of a bridge: one for each session, at its first cell. Pure.
import { type CustomPattern, customRecogniser, MAX_PATTERNS } from './custom-pattern.ts'
import type { MaskKind } from '../../config/settings/sandbox.ts'
import { BridgeError } from '../../errors.ts'
import { Masker, type NameFinder } from './masker.ts'
import { RECOGNISERS } from './recognisers.ts'

export interface Maskers {
  /** Returns a session's masker; always the same one. */
  of(session: object): Masker
}

/** @throws BridgeError CONFIG_INVALID for an unsupported custom pattern */
export function createMaskers(
  kinds: readonly MaskKind[],
  patterns: readonly CustomPattern[] = [],
  findNames?: NameFinder,
): Maskers | undefined {
  if (kinds.length === 0 && patterns.length === 0 && !findNames) return undefined
  if (patterns.length > MAX_PATTERNS)
    throw new BridgeError('CONFIG_INVALID', `There are more than ${MAX_PATTERNS} mask patterns`)
  const recognisers = [...patterns.map(customRecogniser), ...kinds.map((kind) => RECOGNISERS[kind])]
  const bySession = new WeakMap<object, Masker>()
  return {
    of(session) {
      const masker = bySession.get(session) ?? new Masker(recognisers, findNames)
      bySession.set(session, masker)
      return masker
    },
  }
}
