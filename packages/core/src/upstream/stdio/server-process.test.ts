import type { ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsPosix, skip } from '../../../test/support/needs.ts'
import { processContext } from '../../config/settings/client-context.ts'
import { spawnServer } from './server-process.ts'

it('a missing command is reported as such where a folder of the PATH may not be entered', async () => {
  needsPosix('Windows finds programs itself')
  if (process.getuid?.() === 0) skip('root may enter every folder')
  const locked = mkdtempSync(path.join(tmpdir(), 'locked-'))
  onTestFinished(() => rmSync(locked, { recursive: true }))
  const open = path.join(locked, 'open')
  mkdirSync(open)
  const codeOf = (command: string) =>
    spawnServer(
      { type: 'stdio', command, args: [], env: { PATH: `${locked}/none:${open}` } },
      processContext(),
    ).started.catch(({ code }: NodeJS.ErrnoException) => code)
  writeFileSync(path.join(open, 'no-program'), '', { mode: 0o644 })
  expect(await codeOf('no-program')).toBe('EACCES')
  chmodSync(locked, 0o000)
  onTestFinished(() => chmodSync(locked, 0o700))
  expect(await codeOf('no-such-command')).toBe('ENOENT')
})

it('a missing command that Windows tells of after its start is one, too', async () => {
  let child: ChildProcess | undefined
  const server = spawnServer(
    { type: 'stdio', command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60_000)'], env: {} },
    processContext(),
    undefined,
    { spawned: (started) => (child = started), end: async (ended) => void ended.kill() },
  )
  await server.started
  // As cross-spawn does there.
  const notStarted = Object.assign(new Error('spawn none ENOENT'), { code: 'ENOENT' })
  child!.emit('error', notStarted)
  expect(await server.exited).toEqual({ code: 1, signal: null, notStarted })
  await server.end()
  await server.closed
})
