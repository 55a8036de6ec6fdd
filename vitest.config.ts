import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './packages/core/test/support/suite/longest-first.ts'
import {
  IS_FIRST_TIER,
  isOfCluster,
  LEFT_OUT,
  onlyListed,
  WHOLE,
} from './packages/core/test/support/suite/only-listed.ts'

const REAL_CLUSTER = '{packages/*/,}test/**/*-real.test.ts'
const UNIT = ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts']
const isUnit = (file: string): boolean => !file.includes('/test/') && !file.startsWith('test/')

/** They replace a module for what they import, and so need modules that no other test has loaded. */
const REPLACES_MODULES = 'packages/*/src/**/*.mocked.test.ts'

/**
 * They also run through relays to a resident bridge: each is quick, and sees something else of what a client sees.
 * The residents of Windows have tests of their own.
 */
const BOTH_WAYS = [
  'batches',
  'client-log',
  'config',
  'denials-record',
  'lost-reader',
  'mcp-server',
  'metrics-port',
  'resources',
  'upstream-names',
  'shutdown',
  'unread-files',
  'warnings',
]
const isBothWays = (file: string): boolean => BOTH_WAYS.some((name) => file.endsWith(`/test/e2e/${name}.test.ts`))

const { testNamePattern, include: listed } = onlyListed()

export default defineConfig({
  test: {
    // What a test opens has all parts, as the program has.
    setupFiles: ['./packages/sandbridge/src/packages.ts', './packages/core/test/support/suite/after-each.ts'],
    globalSetup: [
      './packages/core/test/support/machine/temporary-folder.ts',
      './packages/core/test/support/bridges/plain-bridge.mjs',
      './packages/core/test/support/sandboxes/warm-caches.ts',
    ],
    // Tests leave no state behind, so a worker loads each module once for all of its files.
    isolate: false,
    // Projects, and the next run, read what one of them has transformed.
    experimental: { fsModuleCache: true },
    // A limit for tests that hang: under load, some take a minute.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // As for tests: a machine that stands still for a second must fail none. Less than theirs, so that the last look is
    // told.
    expect: { poll: { timeout: 50_000 } },
    // A worker waits for sandboxes and servers half of its time. More than one in excess make each other time out.
    maxWorkers: availableParallelism() + 1,
    tags: [{ name: WHOLE, description: 'left out of `npm test`, run by `npm run test:all`' }],
    // For what needs engines, a browser or registries, which stand still at times. The tally names what needed it.
    retry: Number(process.env['SANDBRIDGE_TEST_RETRIES'] ?? 0),
    sequence: { sequencer: LongestFirst },
    // The tally at the end is all that is seen of a run elsewhere.
    chaiConfig: { truncateThreshold: 1_000 },
    ...(testNamePattern !== undefined && { testNamePattern, passWithNoTests: true }),
    projects: [
      // One file's functions. They take no sandbox and no built bridge.
      {
        extends: true,
        test: {
          name: 'unit',
          exclude: [REPLACES_MODULES, ...configDefaults.exclude],
          include: listed?.filter((file) => isUnit(file)) ?? UNIT,
        },
      },
      {
        extends: true,
        test: {
          name: 'replaced-modules',
          isolate: true,
          include: listed?.filter((file) => file.endsWith('.mocked.test.ts')) ?? [REPLACES_MODULES],
        },
      },
      {
        extends: true,
        test: {
          name: 'tests',
          include: listed?.filter((file) => !isUnit(file)) ?? ['{packages/*/,}test/**/*.test.ts'],
          exclude: [REAL_CLUSTER, ...configDefaults.exclude],
        },
      },
      {
        extends: true,
        test: {
          name: 'behind-relays',
          include:
            process.platform === 'win32' || IS_FIRST_TIER
              ? []
              : (listed?.filter((file) => isBothWays(file)) ?? [
                  `packages/*/test/e2e/{${BOTH_WAYS.join(',')}}.test.ts`,
                ]),
          env: { SANDBRIDGE_TEST_RESIDENT: '1' },
        },
      },
      // One at a time, as some break it for others: they end its API server, and let no pod start. CI runs them beside
      // all others, as they wait for pods most of the time; without `--project`, they come last.
      {
        extends: true,
        test: {
          name: 'cluster',
          include: listed?.filter((file) => isOfCluster(file)) ?? [REAL_CLUSTER],
          exclude: [...LEFT_OUT, ...configDefaults.exclude],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    reporters: ['default', './packages/core/test/support/suite/tally-reporter.ts'],
  },
})
