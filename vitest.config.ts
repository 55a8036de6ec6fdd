import { defineConfig } from 'vitest/config'

const REAL_CLUSTER = 'test/**/*-real.test.ts'

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores are half idle with two: sandboxes and servers wait a lot. More than three make each other time out.
    maxWorkers: 3,
    // A machine that stands still for a second makes one test of thousands fail. What needed its second try is printed.
    retry: Number(process.env['SANDBRIDGE_TEST_RETRIES'] ?? 0),
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [REAL_CLUSTER, 'node_modules/**'],
        },
      },
      // After all others, and one after the other: they break the cluster that they share.
      {
        extends: true,
        test: { name: 'cluster', include: [REAL_CLUSTER], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
    reporters: ['default', './test/support/tally-reporter.ts'],
  },
})
