// Outputs of cells as MCP resources, and what masks for the readers of resources.
import type { ReadResourceResult } from '@modelcontextprotocol/server'
import type { Bridge } from '../../bridge/bridge.ts'
import type { ReadMasker } from '../../calls/memories-part.ts'
import type { Sessions } from './sessions.ts'
import { OUTPUT_URI_TEMPLATE } from '../../cell/session/output-store.ts'
import type { Session } from '../../cell/session/session.ts'
import { shortName } from '../../util/text/server-words.ts'

/**
 * Returns what masks for the readers of these sessions; undefined when nothing is masked. A client that names a session
 * with each call may use a token in any of them, where it stands for another value. Such a client gets tokens that no
 * session has.
 */
export function maskerFor({ maskers }: Bridge, sessions: Sessions): ReadMasker | undefined {
  if (!maskers) return undefined
  const { only } = sessions
  const own = only ? maskers.of(only) : maskers.shared(sessions)
  return {
    masked: (work) => own.masked(work),
    meanings(text) {
      // Results of cells name artifacts with the tokens of their session.
      const all = [own, ...[...sessions.readable()].map((session) => maskers.of(session))]
      return [...new Set(all.map((one) => one.unmask(text)))]
    },
  }
}

export const OUTPUT_TEMPLATE = {
  uriTemplate: OUTPUT_URI_TEMPLATE,
  name: 'output',
  title: 'The full output of a cell',
  description: 'A truncated result names the URI.',
  mimeType: 'text/plain',
}

const SCHEME = 'sandbridge://output/'

/**
 * Returns the output that a URI names; undefined for other URIs.
 * @param sessions those whose output the reader may see
 * @throws BridgeError OUTPUT_UNKNOWN when the output is no longer kept. Error when it belongs to another session.
 */
export function readOutputResource(sessions: Iterable<Session>, uri: string): ReadResourceResult | undefined {
  if (!uri.startsWith(SCHEME)) return undefined
  for (const { outputs } of sessions) {
    const cell = outputs.cellOf(uri)
    if (cell === undefined) continue
    return { contents: [{ uri, mimeType: OUTPUT_TEMPLATE.mimeType, text: outputs.read(cell) }] }
  }
  throw new Error(`Unknown output '${shortName(uri)}'. Output is stored only while its session lives`)
}
