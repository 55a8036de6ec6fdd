// Tells a person at a terminal which servers a command waits for, while they start.
import type { Upstreams } from '../upstream/upstream.ts'
import type { ProgressBar } from './progress-bar.ts'

const LOOK_EVERY_MS = 200

/** @returns what ends it */
export function showStartingServers(upstreams: Upstreams, bar: ProgressBar): () => void {
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const names = upstreams.definitions.map(({ name }) => name).filter((name) => upstreams.state(name) === 'starting')
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    bar.waitFor(names.length === 0 ? '' : `starting ${names.join(', ')} (${seconds} s)`)
  }, LOOK_EVERY_MS)
  return () => {
    clearInterval(timer)
    bar.waitFor('')
  }
}
