// Current resource use of the sandboxes of a bridge's sessions: measured for all at once, when a page that shows it
// asks.
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'

export interface UsageView {
  session: string
  memoryBytes: number
  cpuMs: number
}

const FRESH_MS = 1_000

export function sharedUsage({ sessions }: Bridge): () => Promise<UsageView[]> {
  let last: Promise<UsageView[]> | undefined
  let askedAt = -Infinity
  return () => {
    const now = performance.now()
    if (last && now - askedAt < FRESH_MS) return last
    askedAt = now
    last = sessions.usage()
    return last
  }
}
