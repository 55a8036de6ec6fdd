// This file verifies which Python bubblewrap runs, for the ways in which PATH leads to it: links, virtual environments
// made through links, and broken ones.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { BubblewrapProvider } from '../../src/provider.ts'
import { startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { visibleFolder } from '@sandbridge/core/test/support/machine/visible-folder.ts'

const SYSTEM_PYTHON = '/usr/bin/python3'

const WAYS: [what: string, make: (folder: string) => string][] = [
  [
    'a link to another one',
    (folder) => {
      const bin = path.join(folder, 'bin')
      mkdirSync(bin)
      symlinkSync(SYSTEM_PYTHON, path.join(bin, 'python3'))
      return bin
    },
  ],
  [
    'a virtual environment made through a link',
    (folder) => {
      const bin = path.join(folder, 'bin')
      mkdirSync(bin)
      symlinkSync(SYSTEM_PYTHON, path.join(bin, 'python3'))
      const venv = path.join(folder, 'venv')
      const made = spawnSync(path.join(bin, 'python3'), ['-m', 'venv', '--without-pip', venv], { encoding: 'utf8' })
      expect(made.status, made.stderr).toBe(0)
      return path.join(venv, 'bin')
    },
  ],
  [
    'one whose file is somewhere else than it says, before one that works',
    (folder) => {
      const bin = path.join(folder, 'bin')
      mkdirSync(bin)
      const answer = { version: [3, 12], executable: '/opt/none', real: '/opt/none', hops: [], folders: ['/usr'] }
      writeFileSync(path.join(bin, 'python3'), `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`, { mode: 0o755 })
      return bin
    },
  ],
]

it.for(WAYS)('bubblewrap runs cells when the first python3 is %s', async ([, make]) => {
  await providerOrSkip('bubblewrap')
  if (!existsSync(SYSTEM_PYTHON)) skip(`it needs ${SYSTEM_PYTHON}`)
  vi.stubEnv('PATH', `${make(visibleFolder())}:${process.env['PATH']}`)
  const provider = new BubblewrapProvider({ pidsCount: 128 })
  await provider.prepare()
  const cells = await startCells(provider)
  expect((await cells.run('6 * 7')).value).toBe('42')
})

it('a sandbox of bubblewrap locks its own files as SQLite, dbm and mailbox do, and is told that there is no flock', async () => {
  const cells = await startCells(await providerOrSkip('bubblewrap'))
  const { output } = await cells.run(`
import dbm.dumb, errno, fcntl, mailbox, shelve, sqlite3, tempfile
box = mailbox.mbox('box'); box.lock(); box.add('Subject: x'); box.flush(); box.unlock()
with sqlite3.connect('rows.db') as rows: rows.execute('CREATE TABLE t (x)')
with shelve.open('shelf') as shelf: shelf['a'] = 1
with tempfile.TemporaryFile() as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    try: fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error: print(errno.errorcode[error.errno], len(box))`)
  expect(output).toBe('ENOSYS 1\n')
})
