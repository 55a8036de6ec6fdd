import path from 'node:path'
import { expect, it } from 'vitest'
import { installPlace } from './install-place.ts'
import { beginInstallation } from './installation.ts'

it.each([
  ['that it inherits', {}, undefined, '/inherited/'],
  ['of its definition', { npm_config_cache: '/own' }, undefined, '/own/'],
  ['of its jail, which inherits nothing', {}, '/jail', '/jail/'],
  ['of its definition, in a jail', { npm_config_cache: '/own' }, '/jail', '/own/'],
])('a server is installed into the cache %s', async (_, env, jailHome, cache) => {
  const installation = await beginInstallation('npx', ['-y', 'some-server'], {
    context: { env: { npm_config_cache: '/inherited', HOME: '/home/ann' }, home: '/home/ann' },
    env,
    jailHome,
    isFirst: false,
    limits: { timeoutMs: 1, firstMs: 1, quietMs: 1, maxMs: 1, lookMs: 1 },
    onNews: () => {},
    signal: new AbortController().signal,
  })
  const { remedy } = installation!.facts.broken("Cannot find module 'x'")!
  expect(remedy).toContain(`Remove this folder: ${path.normalize(cache)}`)
})

it.each([
  ['darwin', 'pnpm', 'Library/Caches/pnpm'],
  ['darwin', 'uv', '.cache/uv'],
  ['win32', 'pnpm', 'AppData/Local/pnpm-cache'],
  ['win32', 'yarn', 'AppData/Local/Yarn/Berry/cache'],
  ['win32', 'npm', 'AppData/Local/npm-cache'],
  ['linux', 'pnpm', '.cache/pnpm'],
] as const)('on %s, %s is watched where it writes', (platform, manager, folder) => {
  const home = path.resolve('/home/ann')
  const { cache } = installPlace({ manager, packages: ['x'] }, { env: {}, home, platform })
  expect(cache).toBe(path.join(home, folder))
})
