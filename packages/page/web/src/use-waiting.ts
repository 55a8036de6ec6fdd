// Waiting questions, requested once a second: some come from other bridges, which send this page no events about them.
import { useEffect, useState } from 'preact/hooks'
import type { AskView } from '../../src/views/ask.ts'
import { ask } from './api.ts'

export interface Waiting extends AskView {
  /** False before the first response. */
  isKnown: boolean
}

const AGAIN_MS = 1_000

/** @param isLive whether a bridge is connected */
export function useWaiting(isLive: boolean): Waiting {
  const [waiting, setWaiting] = useState<Waiting>({ questions: [], isKnown: false })
  useEffect(() => {
    if (!isLive) return undefined
    let isWanted = true
    let timer = 0
    const look = async (): Promise<void> => {
      const view = await ask<AskView>('questions').catch(() => undefined)
      if (!isWanted) return
      if (view) setWaiting((before) => sameUnlessChanged(before, { ...view, isKnown: true }))
      timer = window.setTimeout(() => void look(), AGAIN_MS)
    }
    void look()
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [isLive])
  return waiting
}

function sameUnlessChanged(before: Waiting, after: Waiting): Waiting {
  return JSON.stringify(before) === JSON.stringify(after) ? before : after
}
