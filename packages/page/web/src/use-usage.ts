// Resource use of the sandboxes of sessions, requested every few seconds while the page is visible. The bridge measures
// only on request.
import { useEffect, useState } from 'preact/hooks'
import type { UsageView } from '../../src/views/usage.ts'
import { ask } from './api.ts'

const AGAIN_MS = 3_000

/** @param isShown whether sessions are shown @returns usage by session */
export function useUsage(isShown: boolean): ReadonlyMap<string, UsageView> {
  const [usage, setUsage] = useState<ReadonlyMap<string, UsageView>>(new Map())
  useEffect(() => {
    if (!isShown) return undefined
    let isWanted = true
    let timer = 0
    const look = async (): Promise<void> => {
      if (!document.hidden) {
        const all = await ask<UsageView[]>('usage').catch(() => [])
        if (!isWanted) return
        setUsage(new Map(all.map((one) => [one.session, one])))
      }
      timer = window.setTimeout(() => void look(), AGAIN_MS)
    }
    void look()
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [isShown])
  return usage
}
