// After each test, the clock and the environment are the real ones again.
import { afterEach, vi } from 'vitest'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})
