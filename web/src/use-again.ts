// For answers of which no event tells that they have changed: goes up every few seconds while the page is seen.
import { useEffect, useState } from 'preact/hooks'

const AGAIN_MS = 3_000

export function useAgain(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setCount((before) => before + 1), AGAIN_MS)
    return () => clearInterval(timer)
  }, [])
  return count
}
