// This file verifies that a program that attaches to a bridge through its socket gets every event, and none twice.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { EventStream } from '../events/event-stream.ts'
import { LiveClient } from './live-client.ts'
import { liveBridges, liveFolder } from './live-folder.ts'
import { LiveServer } from './live-server.ts'
import { needsPosix } from '../../../test/support/needs.ts'
import { until } from '../../../test/support/processes.ts'

/** A server of a bridge in a state folder of its own. */
function newServer(): { server: LiveServer; events: EventStream; stateDir: string } {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'sb-live-'))
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }))
  const events = new EventStream()
  const server = new LiveServer({
    id: 'a1b2c3d4',
    stateDir,
    version: '1',
    methods: {},
    catchUp: () => events.flush(),
    onError: (error) => {
      throw error
    },
  })
  return { server, events, stateDir }
}

it('a bridge whose entry cannot be written leaves no file, and an empty entry is removed by the next reader', async () => {
  needsPosix('the folder of an entry has no socket on Windows')
  const { server, stateDir } = newServer()
  const folder = liveFolder(stateDir)
  // Makes the write fail as a full disk does: after a file was created.
  mkdirSync(path.join(folder, 'a1b2c3d4.json', 'x'), { recursive: true, mode: 0o700 })
  await expect(server.listen()).rejects.toThrow()
  expect(readdirSync(folder)).toEqual(['a1b2c3d4.json'])

  rmSync(path.join(folder, 'a1b2c3d4.json'), { recursive: true })
  writeFileSync(path.join(folder, 'e5f6a7b8.json'), '')
  expect(await liveBridges(stateDir)).toEqual([])
  expect(readdirSync(folder)).toEqual([])
})

it('who attaches is shown what has happened until then, though events are delivered later, and hears of it once', async () => {
  const { server, events, stateDir } = newServer()
  await server.listen()
  onTestFinished(() => server.close())
  events.subscribe(server)
  const [bridge] = await liveBridges(stateDir)
  events.emit({ type: 'session.started', id: 'one' })
  const heard: string[] = []
  const client = await LiveClient.attach(bridge!, { onEvent: ({ id }) => heard.push(id) })
  onTestFinished(() => client.close())
  expect(client.hello.sessions.map(({ id }) => id)).toContain('one')
  events.emit({ type: 'session.started', id: 'two' })
  await until(() => heard.length > 0)
  expect(heard).toEqual(['two'])
})
