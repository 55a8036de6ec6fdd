// The MCP client package, loaded on first use, or earlier by a bridge that has servers: importing it takes over 100 ms.
// Also two changes to its behaviour: results are not validated, and calls have no timeout.
import type { StandardSchemaV1 } from '@modelcontextprotocol/client'
import { isRecord } from '../../util/json/json.ts'
import { takeSource } from '../../util/json/source-json.ts'

export type Sdk = typeof import('@modelcontextprotocol/client')

export const loadSdk = (): Promise<Sdk> => import('@modelcontextprotocol/client')

/** The longest delay of a timer. The package has no "no timeout": a call lives as long as the cell that made it. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1

/** The revision for servers that no longer support `initialize`. */
export const MODERN_REVISION = '2026-07-28'

/** Where `keepRawResults` puts the received result. A string key, because the package's schemas drop symbols. */
export const RAW = 'sandbridge/raw'

export type LooseResult = Record<string, unknown>

/** Accepts any result: the package's own schemas refuse a whole list or result for one invalid tool or block. */
export const looseResult: StandardSchemaV1<unknown, LooseResult> = {
  '~standard': {
    version: 1,
    vendor: 'sandbridge',
    validate: (value) =>
      isRecord(value) ? { value: unwrapRaw(value) } : { issues: [{ message: 'the result is not an object' }] },
  },
}

export function unwrapRaw(result: LooseResult): LooseResult {
  const raw = result[RAW]
  return takeSource(isRecord(raw) ? raw : result)
}
