import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { VERSION } from '../../core/src/util/package-root.ts'
import { checkResident } from './check-resident.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A resident with these answers; without any, one that accepts connections and says nothing. */
async function resident(status?: object): Promise<{ stateDir: string; log: string }> {
  const stateDir = newFolder()
  const home = path.join(stateDir, '.sandbridge/run/x.d')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const log = path.join(home, 'log')
  const server = createServer((socket) => {
    const about = {
      pid: 7,
      version: VERSION,
      startedAt: Date.parse('2026-01-02T00:00:00Z'),
      log,
      clients: [],
      ...status,
    }
    if (status) socket.end(`\u0001${JSON.stringify({ status: about })}\n`)
  })
  await new Promise<void>((resolve) => server.listen(path.join(home, 's'), resolve))
  onTestFinished(() => void server.close())
  return { stateDir, log }
}

it('doctor says nothing without a resident, nor about a healthy one', async () => {
  needsPosix('on Windows a resident listens on no file')
  expect(await checkResident('/nowhere')).toEqual([])
  expect(await checkResident((await resident({})).stateDir)).toEqual([])
})

it('doctor names a resident of another version, and the last error since it started', async () => {
  needsPosix('on Windows a resident listens on no file')
  const { stateDir, log } = await resident({ version: '0.0.1' })
  writeFileSync(log, '2026-01-01T10:00:00.000Z error Older\n2026-01-02T10:00:00.000Z error It broke error="x"\n')
  expect(await checkResident(stateDir)).toMatchObject([
    { message: expect.stringContaining('version 0.0.1') as string, advice: 'sandbridge stop' },
    { message: expect.stringContaining('It broke') as string },
  ])
  writeFileSync(log, '2026-01-01T10:00:00.000Z error Older\n')
  expect(await checkResident(stateDir)).toHaveLength(1)
})

it('doctor names a resident that does not answer', { tags: ['whole'] }, async () => {
  needsPosix('on Windows a resident listens on no file')
  expect(await checkResident((await resident()).stateDir)).toMatchObject([
    { message: expect.stringContaining('does not answer') as string },
  ])
})
