// What a client is told about the servers behind the bridge, before any server is started.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixtureServer, makeHome } from '../support/bridges/bridge-process.ts'
import { sharedHttpBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const github = { ...fixtureServer('documented.mjs', 'github'), description: 'Issues of the team' }

it('a client over stdio gets the servers’ names at the first start, and those of a changed file at once', async () => {
  const home = makeHome({ github })
  const first = await startBridge({ home })
  expect(first.client.getInstructions()).toMatch(/^run_python .* Configured: github \(Issues of the team\)\.$/)
  await first.client.listTools()
  await first.client.close()
  // Read anew at each start, they would make all of a client slower that calls nothing.
  expect(readdirSync(path.join(home, 'cache/upstream-names'))).toHaveLength(1)

  const second = await startBridge({ home })
  expect(second.client.getInstructions()).toMatch(/^run_python .* Configured: github \(Issues of the team\)\.$/)
  const { title, description } = second.client.getServerVersion()!
  expect([title, description]).toEqual(['Sandbridge', second.client.getInstructions()])
  const { tools } = await second.client.listTools()
  await second.client.close()

  const file = path.join(home, 'MCPs/servers.json')
  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: object }
  const mail = { ...github, description: 'My mail' }
  writeFileSync(file, JSON.stringify({ mcpServers: { ...mcpServers, mail } }))
  const third = await startBridge({ home, era: 'modern' })
  expect(third.client.getInstructions()).toContain('Configured: github (Issues of the team), mail (My mail).')
  // Only a client of the older era is told in the list that a call can be a task.
  const [{ execution: _, ...tool }] = tools as unknown as [{ execution: object }]
  expect(JSON.stringify((await third.client.listTools()).tools)).toBe(JSON.stringify([tool]))
})

describe('over HTTP', () => {
  const shared = sharedHttpBridge({ servers: { github } })

  it.each(['legacy', 'modern'] as const)('a client of the %s era gets the names of the servers', async (era) => {
    const { client } = await shared().connect(era)
    expect(client.getInstructions()).toContain('Configured: github (Issues of the team).')
  })
})
