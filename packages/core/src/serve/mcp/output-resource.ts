// The whole output of cells as MCP resources, for output that the model was shown only in part.
import type { ReadResourceResult } from '@modelcontextprotocol/server'
import { OUTPUT_URI_TEMPLATE } from '../../cell/session/output-store.ts'
import type { Session } from '../../cell/session/session.ts'
import { shortName } from '../../util/text/short-name.ts'

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
  throw new Error(`Unknown output '${shortName(uri)}'. Output is kept only while its session lives`)
}
