import { homedir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { holdsTooMuch, libraryTrees } from './host-python.ts'

it.each(['/', '/home', '/home/', '/root', '/etc', '/tmp', '/var', homedir(), path.dirname(homedir()), process.cwd()])(
  'a Python installed in %s is refused, since too much would be visible in the sandbox',
  (folder) => {
    expect(holdsTooMuch(folder)).toBe(true)
  },
)

it.each(['/opt/python/3.14', path.join(homedir(), '.pyenv/versions/3.14.0'), path.join(process.cwd(), '.venv')])(
  'a Python in %s is used, since it has a folder of its own',
  (folder) => {
    expect(holdsTooMuch(folder)).toBe(false)
  },
)

it('the trees of libraries are added, unless the system or the Python has them, or they hold too much', () => {
  const libraries = [
    '/usr/lib/x86_64-linux-gnu/libc.so.6',
    '/lib64/ld-linux-x86-64.so.2',
    '/opt/py/lib/libpython3.so',
    '/nix/store/abc-openssl-3/lib/libssl.so.3',
    '/nix/store/abc-openssl-3/lib/libcrypto.so.3',
    '/home/linuxbrew/.linuxbrew/Cellar/openssl@3/3.3/lib/libssl.so.3',
    '/opt/own/lib/libsqlite3.so.0',
    path.join(homedir(), 'libz.so.1'),
  ]
  expect(libraryTrees(libraries, ['/opt/py'])).toEqual([
    '/nix/store/abc-openssl-3',
    '/home/linuxbrew/.linuxbrew/Cellar',
    '/home/linuxbrew/.linuxbrew/opt',
    '/home/linuxbrew/.linuxbrew/lib',
    '/opt/own/lib',
  ])
})
