import { configDefaults, defineConfig } from 'vitest/config'

const REAL_CLUSTER = 'test/**/*-real.test.ts'
/** They break it for others: they end its API server, and let no pod start. */
const ALONE_ON_CLUSTER = ['test/e2e/durable-pods-real.test.ts', 'test/e2e/kubernetes-real.test.ts']

export default defineConfig({
  test: {
    globalSetup: ['./test/support/temporary-folder.ts', './test/support/warm-caches.ts'],
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
          exclude: [REAL_CLUSTER, ...configDefaults.exclude],
        },
      },
      // After all others: they take a cluster, which is not there before.
      {
        extends: true,
        test: {
          name: 'cluster',
          include: [REAL_CLUSTER],
          exclude: [...ALONE_ON_CLUSTER, ...configDefaults.exclude],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'cluster-alone', include: ALONE_ON_CLUSTER, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
    ],
    reporters: ['default', './test/support/tally-reporter.ts'],
  },
})
