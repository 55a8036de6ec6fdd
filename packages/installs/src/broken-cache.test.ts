import { expect, it } from 'vitest'
import { brokenCache } from './broken-cache.ts'

const npm = { manager: 'npm', cache: '/home/ann/.npm', own: '/home/ann/.npm/_npx/0123456789abcdef' } as const
const uv = { manager: 'uv', cache: '/home/ann/My cache/uv' } as const
const remedyFor = (installed: typeof npm | typeof uv, output: string) =>
  brokenCache(installed.manager, installed, output)?.remedy

it.each([
  [
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /root/.npm/_npx/fedcba9876543210/node_modules/x",
    'fedcba9876543210',
  ],
  ['npm error ENOTEMPTY: directory not empty, rename …', '0123456789abcdef'],
  ['npm error code ECOMPROMISED', '0123456789abcdef'],
  ['sh: 1: srv: not found', '0123456789abcdef'],
])('an incomplete package of npm is removed with its folder: %s', (text, folder) => {
  expect(remedyFor(npm, text)).toBe(`Remove this folder: /home/ann/.npm/_npx/${folder}`)
})

it('an incomplete package of uv is removed with its cache', () => {
  const trace =
    'File "/home/ann/.cache/uv/archive-v0/Oel/lib/x.py", line 1\nModuleNotFoundError: No module named \'pydantic\''
  expect(remedyFor(uv, trace)).toBe('Empty its cache: uv cache clean --cache-dir "/home/ann/My cache/uv"')
})

it('a server that fails for a reason of its own is not sent to its cache', () => {
  expect(remedyFor(npm, 'Error: no license')).toBeUndefined()
  expect(remedyFor(uv, 'File "/srv/x.py"\nModuleNotFoundError: No module named \'mine\'')).toBeUndefined()
})
