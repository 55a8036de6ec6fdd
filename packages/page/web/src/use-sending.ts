// Sends what the user asks for: whether it is under way, and what went wrong.
import { useState } from 'preact/hooks'
import { type ApiError, tell } from './api.ts'

interface Sending {
  isSending: boolean
  problem: string | undefined
  setProblem: (problem: string | undefined) => void
  /** @param then gets the bridge's answer */
  send: (path: string, params: object, then: (answer: never) => void, failed?: () => void) => void
}

export function useSending(): Sending {
  const [isSending, setSending] = useState(false)
  const [problem, setProblem] = useState<string>()
  const send: Sending['send'] = (path, params, then, failed) => {
    setSending(true)
    setProblem(undefined)
    tell<never>(path, params)
      .then(then, ({ message, hint }: ApiError) => {
        setProblem([message, hint].filter(Boolean).join('. '))
        failed?.()
      })
      .finally(() => setSending(false))
  }
  return { isSending, problem, setProblem, send }
}
