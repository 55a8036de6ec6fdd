// What the core uses of masking: the maskers of a bridge, one for each session, each made at its first cell.
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { AskedQuestion, AsksModel, CellMasker, Mask, MaskedData, Maskers } from '@sandbridge/core/parts'
import { customRecogniser, MAX_PATTERNS } from './custom-pattern.ts'
import { hasFiles, maskResult, NOT_LOOKED_AT } from './mask-result.ts'
import { maskData } from './mask-data.ts'
import { Masker, type NameFinder, newTokens } from './masker.ts'
import type { Match, Recogniser } from './by-patterns.ts'
import { RECOGNISERS } from './recognisers.ts'
import type { CellListeners } from '@sandbridge/core/cell'
import { plainText } from '@sandbridge/core/util/text'

/** @throws BridgeError CONFIG_INVALID for an unsupported custom pattern */
export function createMaskers({ kinds = [], patterns = [], endpoint }: MaskedData): Maskers {
  if (patterns.length > MAX_PATTERNS)
    throw new BridgeError('CONFIG_INVALID', `There are more than ${MAX_PATTERNS} mask patterns`)
  const recognisers = [...patterns.map(customRecogniser), ...kinds.map((kind) => RECOGNISERS[kind])]
  const findNames = endpoint === undefined ? undefined : nameFinder(endpoint)
  return {
    of: oncePerObject(() => new SessionMasker(recognisers, findNames)),
    shared: oncePerObject(
      () => new SessionMasker(recognisers.map(sharedRecogniser), findNames && sharedNames(findNames)),
    ),
  }
}

/** Calls `make` once for each object. */
function oncePerObject<T>(make: () => T): (holder: object) => T {
  const made = new WeakMap<object, T>()
  return (holder) => {
    const found = made.get(holder) ?? make()
    made.set(holder, found)
    return found
  }
}

const SHARED = '_SHARED'
/** Longer ones would make no token. */
const MAX_LABEL_CHARS = 32

/** The label in tokens that no session has: `EMAIL_SHARED` for `EMAIL`. */
function sharedLabel(label: string): string {
  return `${label.slice(0, MAX_LABEL_CHARS - SHARED.length)}${SHARED}`
}

const sharedMatch = (match: Match): Match => ({ ...match, label: sharedLabel(match.label) })

function sharedRecogniser(recogniser: Recogniser): Recogniser {
  return {
    ...recogniser,
    label: sharedLabel(recogniser.label),
    find: (text) => recogniser.find(text).map(sharedMatch),
  }
}

function sharedNames(find: NameFinder): NameFinder {
  return async (texts, signal) => {
    const found = await find(texts, signal)
    return new Map([...found].map(([text, matches]) => [text, matches.map(sharedMatch)]))
  }
}

class SessionMasker extends Masker implements CellMasker {
  maskedData: CellMasker['maskedData'] = (data) => this.masked((mask) => maskData(data, mask))
  result: CellMasker['result'] = (result, signal) => maskResult(result, this, signal)
  async reply<Reply extends { result: unknown; notes: string[] }>(reply: Reply): Promise<Reply> {
    // maskData keeps every form.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const masked = (await this.maskedData(reply)) as Reply
    return hasFiles(reply.result) ? { ...masked, notes: [...masked.notes, NOT_LOOKED_AT] } : masked
  }
  failure: CellMasker['failure'] = (error) =>
    this.masked((mask) => {
      const { code, message, hint, userHint = hint } = error
      return new BridgeError(code, mask(plainText(message)), { hint: mask(plainText(hint)), userHint })
    })
  listeners: CellMasker['listeners'] = (listeners) => maskedListeners(listeners, this)
  asker: CellMasker['asker'] = (asker) => maskedAsker(asker, this)
}

/** Loads the module at its first use. */
function nameFinder(url: string): NameFinder {
  let finder: Promise<NameFinder> | undefined
  return async (texts, signal) => {
    finder ??= import('./endpoint/names-endpoint.ts').then((module) => module.createNameFinder(url))
    return (await finder)(texts, signal)
  }
}

// Masks what leaves a cell while it runs: its progress, and sampling requests of servers.

function maskedListeners(listeners: CellListeners, masker: Masker): CellListeners {
  const { onProgress, onToolCall, onUpstreamProgress } = listeners
  const masked = <T extends { message?: string | null | undefined }>({ message, ...progress }: T): T => {
    const text = typeof message === 'string' ? masker.maskedNow(plainText(message)) : message
    // Only the message changes, so the type stays the same.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { ...progress, ...(text !== undefined && { message: text }) } as unknown as T
  }
  return {
    ...listeners,
    onOutput: undefined,
    onProgress: onProgress && ((progress) => onProgress(masked(progress))),
    onToolCall: onToolCall && ((call) => onToolCall({ ...call, name: masker.maskedNow(call.name) ?? '…' })),
    onUpstreamProgress: onUpstreamProgress && ((progress) => onUpstreamProgress(masked(progress))),
  }
}

/**
 * Masks a server's request to the client's model, and puts the values back into its reply. Requests to the user are not
 * masked.
 */
function maskedAsker<Q extends AskedQuestion>(asker: AsksModel<Q>, masker: Masker): AsksModel<Q> {
  return {
    canAnswer: (question) => asker.canAnswer(question),
    hold: (work) => asker.hold(work),
    async ask(question, signal) {
      if (question.method !== 'sampling/createMessage') return asker.ask(question, signal)
      // Only values that the server sent itself: else it could have the model repeat tokens of other servers.
      const own = new Set<string>()
      const masked = await masker.masked((mask) => {
        const collecting: Mask = (text, key) => {
          const result = mask(text, key)
          for (const token of newTokens(result, text)) own.add(token)
          return result
        }
        return maskData(question.params, collecting)
      }, signal)
      // maskData turns records into records.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const params = masked as Record<string, unknown>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return masker.unmaskData(await asker.ask({ ...question, params }, signal), own) as Record<string, unknown>
    },
  }
}
