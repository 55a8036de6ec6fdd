// Increases every few seconds while the page is visible, to refresh answers for which there are no events.
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
