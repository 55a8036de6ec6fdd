// The MCP client package, loaded on first use, or ahead of it by a bridge that has servers: importing it takes over 100 ms.
// Also the two ways in which we bend it: results pass unvalidated, and calls have no timeout.
import type { StandardSchemaV1 } from '@modelcontextprotocol/client'
import { isRecord } from '../../text/json.ts'

export type Sdk = typeof import('@modelcontextprotocol/client')

let sdk: Promise<Sdk> | undefined

export function loadSdk(): Promise<Sdk> {
  sdk ??= import('@modelcontextprotocol/client')
  return sdk
}

/** The longest delay a timer can have. The package has no way to say "no timeout": a call lives as long as the cell that made it. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1

/** The revision spoken to servers that no longer know `initialize`. */
export const MODERN_REVISION = '2026-07-28'

/** Where `keepRawResults` leaves a result as it was received. A text, because the package's schemas drop symbols. */
export const RAW = 'sandbridge/raw'

export type LooseResult = Record<string, unknown>

/**
 * Accepts a result as it is. The package's own schemas refuse a whole tool list for one bad tool, and a whole result for one
 * odd block or a value that misses the tool's own output schema; we pass on what the server said.
 */
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
  return isRecord(raw) ? raw : result
}
