// A bridge's response, requested again when its inputs change, and for what has no events, some time after each
// response. The old response stays until the new one arrives.
import { useEffect, useState } from 'preact/hooks'
import { ask } from './api.ts'

export interface Answer<T> {
  value: T | undefined
  error: string | undefined
  isLoading: boolean
}

interface Again {
  /** Requests again when this changes. */
  after?: unknown
  everyMs?: number
  /** Also while the page is hidden. */
  isHiddenToo?: boolean
}

/** How often to request what changes without an event. */
export const POLLED: Again = { everyMs: 3_000 }

/** @param path undefined sends no request */
export function useAnswer<T>(
  path: string | undefined,
  params: Record<string, string> = {},
  { after = 0, everyMs, isHiddenToo = false }: Again = {},
): Answer<T> {
  const none = { value: undefined, error: undefined, isLoading: path !== undefined }
  const [answer, setAnswer] = useState<Answer<T>>(none)
  useEffect(() => {
    if (path === undefined) {
      setAnswer(none)
      return undefined
    }
    let isWanted = true
    let timer = 0
    const take = (part: Partial<Answer<T>>): void => {
      if (!isWanted) return
      setAnswer((before) => {
        const next = { ...before, ...part }
        return JSON.stringify(before) === JSON.stringify(next) ? before : next
      })
    }
    const look = async (): Promise<void> => {
      if (everyMs === undefined || isHiddenToo || !document.hidden)
        await ask<T>(path, params).then(
          (value) => take({ value, error: undefined, isLoading: false }),
          (error: Error) => take({ error: error.message, isLoading: false }),
        )
      if (isWanted && everyMs !== undefined) timer = window.setTimeout(() => void look(), everyMs)
    }
    take({ isLoading: true })
    void look()
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [JSON.stringify([path, params, after])])
  return answer
}
