// A bridge's response, requested again when its inputs change. The old response stays until the new one arrives.
import { useEffect, useState } from 'preact/hooks'
import { ask } from './api.ts'

export interface Answer<T> {
  value: T | undefined
  error: string | undefined
  isLoading: boolean
}

/** @param path undefined sends no request */
export function useAnswer<T>(
  path: string | undefined,
  params: Record<string, string> = {},
  again: unknown = 0,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ value: undefined, error: undefined, isLoading: path !== undefined })
  const key = JSON.stringify([path, params, again])
  useEffect(() => {
    if (path === undefined) {
      setAnswer({ value: undefined, error: undefined, isLoading: false })
      return undefined
    }
    let isWanted = true
    setAnswer((before) => ({ ...before, isLoading: true }))
    ask<T>(path, params).then(
      (value) => isWanted && setAnswer({ value, error: undefined, isLoading: false }),
      (error: Error) => isWanted && setAnswer((before) => ({ ...before, error: error.message, isLoading: false })),
    )
    return () => {
      isWanted = false
    }
  }, [key])
  return answer
}
