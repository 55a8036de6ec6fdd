// The whole output of a session's cells as MCP resources: what the model was shown the ends of, to be read in full.
import type { ReadResourceResult } from '@modelcontextprotocol/server'
import { OUTPUT_URI_TEMPLATE } from '../session/output-store.ts'
import type { Session } from '../session/session.ts'

export const OUTPUT_TEMPLATE = {
  uriTemplate: OUTPUT_URI_TEMPLATE,
  name: 'output',
  title: 'All that a cell has shown',
  description: 'The URI is in the result of the cell, where only a part of it had room.',
  mimeType: 'text/plain',
}

const SCHEME = 'sandbridge://output/'

/**
 * The output that a URI stands for; undefined when it is no output's.
 * @throws BridgeError OUTPUT_UNKNOWN when it is not kept any more. Error when it belongs to another session: each sees its own only.
 */
export function readOutputResource(session: Session, uri: string): ReadResourceResult | undefined {
  if (!uri.startsWith(SCHEME)) return undefined
  const cell = session.outputs.cellOf(uri)
  if (cell === undefined)
    throw new Error(`There is no output '${uri}' in this session; another session's is gone with it`)
  return { contents: [{ uri, mimeType: OUTPUT_TEMPLATE.mimeType, text: session.outputs.read(cell) }] }
}
