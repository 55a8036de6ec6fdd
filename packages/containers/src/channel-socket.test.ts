import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type ChannelSocket, openChannelSocket } from './channel-socket.ts'
import { needsLinux, needsProgram, needsRoot } from '@sandbridge/core/test/support/suite/needs.ts'

const opened = async (engineUid?: number): Promise<ChannelSocket> => {
  const socket = await openChannelSocket(engineUid)
  onTestFinished(() => socket.close())
  return socket
}

/** Connects as another user and returns the outcome. Root's own Python may be in a folder that others cannot enter. */
function connectAs(uid: number, place: string): string {
  const program = `
import os, socket, sys
os.setgroups([])
os.setgid(${uid})
os.setuid(${uid})
try: socket.socket(socket.AF_UNIX).connect(sys.argv[1])
except OSError as error: print(error.strerror)
else: print('connected')`
  return spawnSync('python3', ['-c', program, place], { encoding: 'utf8', cwd: '/' }).stdout.trim()
}

describe('a socket for the frames of a sandbox', () => {
  beforeEach(() => needsLinux('elsewhere engines run in a virtual machine'))
  it('the socket for frames accepts one connection, and is then removed', async () => {
    const socket = await opened()
    const [first, second] = [connect(socket.path), connect(socket.path)]
    second.on('error', () => {})
    const refused = new Promise((resolve) => second.once('close', resolve))
    const connection = await socket.connected
    onTestFinished(() => void [first.destroy(), connection.destroy()])
    first.write('hello')
    expect(String((await once(connection, 'data'))[0])).toBe('hello')
    await refused
    await expect.poll(() => existsSync(path.dirname(socket.path))).toBe(false)
  })

  it('the socket for frames leaves nothing when it is closed before a connection', async () => {
    const socket = await opened()
    socket.close()
    socket.close()
    await expect.poll(() => existsSync(path.dirname(socket.path))).toBe(false)
  })

  it('the socket for frames is out of reach for other users of the host, except the one that runs the engine', async () => {
    needsRoot('it becomes another user')
    needsProgram('python3')
    const socket = await opened()
    expect(statSync(path.dirname(socket.path)).mode & 0o777).toBe(0o700)
    expect(connectAs(65534, socket.path)).toBe('Permission denied')
    // Control: the folder's permissions are what keeps others out.
    chmodSync(path.dirname(socket.path), 0o755)
    expect(connectAs(65534, socket.path)).toBe('connected')

    const ofEngine = await opened(1234)
    expect(connectAs(65534, ofEngine.path)).toBe('Permission denied')
    expect(connectAs(1234, ofEngine.path)).toBe('connected')
  })

  it('the socket for frames leaves nothing where it cannot be made, such as at a path that is too long', async () => {
    const long = mkdtempSync(path.join(tmpdir(), `sb-${'x'.repeat(90)}`))
    vi.stubEnv('TMPDIR', long)
    await expect(openChannelSocket()).rejects.toThrow()
    expect(readdirSync(long)).toEqual([])
  })
})
