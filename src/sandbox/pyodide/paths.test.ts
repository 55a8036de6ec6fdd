import { expect, test } from 'vitest'
import { defaultCacheFolder, type Machine } from './paths.ts'

const machine = (more: Partial<Machine>): Machine => ({
  platform: 'linux',
  env: {},
  home: '/home/me',
  isRoot: false,
  ...more,
})

test.each<[string, Machine, string]>([
  ['Linux', machine({}), '/home/me/.cache/sandbridge'],
  ['what the user says', machine({ env: { XDG_CACHE_HOME: '/x' } }), '/x/sandbridge'],
  ['what root says', machine({ env: { XDG_CACHE_HOME: '/x' }, isRoot: true }), '/x/sandbridge'],
  ['root on Linux', machine({ isRoot: true }), '/var/cache/sandbridge'],
  ['macOS', machine({ platform: 'darwin', home: '/Users/me' }), '/Users/me/Library/Caches/sandbridge'],
])('the cache folder: %s', (_, given, folder) => {
  expect(defaultCacheFolder(given)).toBe(folder)
})

test('the cache folder: Windows', () => {
  const env = { LOCALAPPDATA: 'C:\\Local' }
  expect(defaultCacheFolder(machine({ platform: 'win32', env }))).toMatch(/^C:\\Local[\\/]sandbridge$/)
})
