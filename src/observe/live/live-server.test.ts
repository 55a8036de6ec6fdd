// This file verifies that a program that attaches to a bridge through its socket gets every event, and none twice.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { EventStream } from '../events/event-stream.ts'
import { LiveClient } from './live-client.ts'
import { liveBridges } from './live-folder.ts'
import { LiveServer } from './live-server.ts'
import { until } from '../../../test/support/processes.ts'

it('who attaches is shown what has happened until then, though events are delivered later, and hears of it once', async () => {
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
