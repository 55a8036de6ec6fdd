import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { controlLine, type FromResident } from './protocol.ts'
import { makeRunFolder, residentPlace } from './run-folder.ts'
import { stop } from './status.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** @returns the exit code of `sandbridge stop`, and what it prints, where a resident answers with this */
async function stopWhere(answer: FromResident): Promise<{ code: unknown; printed: string }> {
  needsPosix('on Windows a resident listens on no file')
  const state = newFolder()
  const place = residentPlace(state, '0123456789abcdef0123')
  makeRunFolder(place)
  mkdirSync(place.home)
  const server = createServer((socket) => socket.on('error', () => {}).end(controlLine(answer))).listen(place.socket)
  let printed = ''
  vi.stubEnv('MCP_BRIDGE_STATE_DIR', state)
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((printed += String(text)), true))
  const before = process.exitCode
  onTestFinished(() => void server.close())
  try {
    await stop()
    return { code: process.exitCode, printed }
  } finally {
    write.mockRestore()
    vi.unstubAllEnvs()
    process.exitCode = before
  }
}

it('says that a resident will end, if it agrees', async () => {
  const { code, printed } = await stopWhere({ pong: true })
  expect({ code, printed }).toEqual({ code: undefined, printed: expect.stringContaining('will end') as string })
})

it('does not say that a resident will end which has refused the request', async () => {
  const { code, printed } = await stopWhere({ refused: 'it serves 64 clients' })
  expect({ code, printed }).toEqual({ code: 1, printed: expect.stringContaining('does not answer') as string })
})
