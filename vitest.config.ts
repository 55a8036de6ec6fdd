import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores are half idle with two: sandboxes and servers wait a lot. More than three make each other time out.
    maxWorkers: 3,
    // A machine that stands still for a second makes one test of thousands fail. What needed its second try is printed.
    retry: Number(process.env['SANDBRIDGE_TEST_RETRIES'] ?? 0),
    reporters: ['default', './test/support/tally-reporter.ts'],
  },
})
