// A bridge's response for which there are no events: requested again some time after each response.
import { useEffect, useState } from 'preact/hooks'
import { ask } from './api.ts'

interface Polled<T> {
  value: T | undefined
  error: string | undefined
}

/** @param path undefined sends no request @param isHiddenToo also while the page is hidden */
export function usePolled<T>(path: string | undefined, everyMs = 3_000, isHiddenToo = false): Polled<T> {
  const [answer, setAnswer] = useState<Polled<T>>({ value: undefined, error: undefined })
  useEffect(() => {
    if (path === undefined) return undefined
    let isWanted = true
    let timer = 0
    const look = async (): Promise<void> => {
      if (isHiddenToo || !document.hidden) {
        const next = await ask<T>(path).then(
          (value) => ({ value, error: undefined }),
          (failure: Error) => ({ error: failure.message }),
        )
        if (!isWanted) return
        setAnswer((before) =>
          JSON.stringify(before) === JSON.stringify({ ...before, ...next }) ? before : { ...before, ...next },
        )
      }
      timer = window.setTimeout(() => void look(), everyMs)
    }
    void look()
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [path])
  return answer
}
