// Resource use of the sandboxes of sessions, requested every few seconds while the page is visible. Bridges measure
// only on request.
import { useEffect, useState } from 'preact/hooks'
import type { UsageView } from '../../src/serve/page/views/usage.ts'
import { ask } from './api.ts'

const AGAIN_MS = 3_000

/** @param sources the bridges @returns usage by session */
export function useUsage(sources: readonly string[]): ReadonlyMap<string, UsageView> {
  const [usage, setUsage] = useState<ReadonlyMap<string, UsageView>>(new Map())
  const key = [...new Set(sources)].toSorted().join(' ')
  useEffect(() => {
    const asked = key.split(' ').filter(Boolean)
    if (asked.length === 0) return undefined
    let isWanted = true
    let timer = 0
    const look = async (): Promise<void> => {
      if (!document.hidden) {
        const all = await Promise.all(asked.map((source) => ask<UsageView[]>('usage', { source }).catch(() => [])))
        if (!isWanted) return
        setUsage(new Map(all.flat().map((one) => [one.session, one])))
      }
      timer = window.setTimeout(() => void look(), AGAIN_MS)
    }
    void look()
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [key])
  return usage
}
