import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Sandboxes are processes: more test files at once than cores only makes them wait for each other.
    maxWorkers: 2,
    reporters: ['default', './test/support/tally-reporter.ts'],
  },
})
