// This file verifies that two bridges on one PostgreSQL look like one to their users: what one stores, the other finds.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { bridgeEnv, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type HttpBridge, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { NO_POSTGRES, PASSWORD, TestPostgres } from '../../packages/postgres/test/support/postgres.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'

const SECRETS = [PASSWORD, decodeURIComponent(PASSWORD)]

const KEEP = `
def double(number: int) -> int:
    "Twice a number."
    return 2 * number
runtime.save_tool(double)
runtime.save_artifact("report.txt", "kept-by-ann")
runtime.save_memory("last", {"week": 47})`

const LOOK = `
from user_tools import double
print(double(21), runtime.open_artifact("report.txt").text(), runtime.load_memory("last"), [one.name for one in runtime.artifacts()])`

describe('two bridges on one PostgreSQL', () => {
  beforeEach(() => void (NO_POSTGRES !== undefined && skip(NO_POSTGRES)))
  let postgres: TestPostgres

  beforeAll(async () => {
    if (NO_POSTGRES === undefined) postgres = await TestPostgres.start()
  })
  afterAll(() => postgres?.remove())

  /** @param more settings; their servers are one that logs its calls */
  async function start(count: number, more: Record<string, string> = {}) {
    const env = { MCP_BRIDGE_STORAGE: await postgres.database(), ...more }
    const starts = Array.from({ length: count }, () => startHttpBridge({ env, prepareHome: giveHub }))
    const bridges = await Promise.all(starts)
    const [one, two = one] = bridges as [HttpBridge, HttpBridge?]
    const command = async ({ home }: HttpBridge, ...args: string[]) => {
      const { stdout, stderr } = await runCommand(args, bridgeEnv(home, env))
      return stdout + stderr
    }
    onTestFinished(() => {
      for (const { stderr } of bridges) expect(stderr()).not.toMatch(/correct-horse/)
    })
    return { one, two, command, env }
  }

  it('artifacts, saved functions, memories and tokens of a user are the same through two bridges on one PostgreSQL', async () => {
    const { one, two, command } = await start(2)
    const token = (await command(one, 'token', 'create', 'ann')).split('\n')[0]!
    const [first, second] = await Promise.all([one, two].map((bridge) => bridge.connect('legacy', { token })))
    expect(await first!.run(KEEP)).not.toMatch(/Error/)
    expect(await second!.run(LOOK)).toContain("42 kept-by-ann {'week': 47} ['report.txt']")
    const uri = 'sandbridge://artifact/report.txt'
    expect(JSON.stringify(await second!.client.readResource({ uri }))).toContain('kept-by-ann')
    // Nothing of it is stored in a folder.
    for (const { home } of [one, two]) expect(kept(home)).toEqual([])

    const owner = await two.connect('legacy')
    expect(await owner.run('print(runtime.artifacts())')).not.toContain('report.txt')
    await owner.run('runtime.save_artifact("plan.txt", "of the owner")')
    expect(await command(one, 'artifacts', '--json')).toContain('"plan.txt"')
    expect(await command(one, 'artifacts', 'plan.txt')).toBe('of the owner')
    expect(await command(one, 'artifacts', '--remove', 'plan.txt')).toContain('Deleted')
    expect(await owner.run('print(runtime.artifacts())')).not.toContain('plan.txt')

    // There is one record, and it stays intact while both write to it.
    await first!.run('print(await mcp_hub.get_issue(id=1))')
    const recorded = async () =>
      (await command(two, 'log', '--json')).split('\n').filter((line) => line.includes('"call"'))
    await vi.waitUntil(async () => (await recorded()).length > 0, { interval: 200, timeout: 20_000 })
    expect((await recorded())[0]).toMatch(/"server":"hub".*"user":"ann"|"user":"ann".*"server":"hub"/)
    expect(await command(two, 'log', '--verify')).toMatch(/No change was found. Checked: \d+ lines in 2 files/)

    expect(await command(two, 'token', 'list')).toContain('ann')
    await command(two, 'token', 'revoke', 'ann')
    for (const bridge of [one, two])
      await expect(bridge.connect('legacy', { token })).rejects.toThrow(/This token is not valid/)
  })

  it('a cell that saves while PostgreSQL crashes and starts again loses nothing, and other bridges see all of it', async () => {
    const { one, two } = await start(2)
    const [writer, reader] = await Promise.all([one, two].map((bridge) => bridge.connect('legacy')))
    const code = `
for number in range(60):
    runtime.save_artifact("log.txt", f"entry {number}")
print("saved", len(runtime.artifacts()))`
    const writing = writer!.run(code, { timeout: 60 })
    const count = 'import json; print("count", runtime.artifacts()[0].version if runtime.artifacts() else 0)'
    while (!/count [1-9]/.test(await reader!.run(count))) await new Promise((resolve) => setTimeout(resolve, 20))
    await postgres.down()
    await postgres.up()
    expect(await writing).toContain('saved 1')
    const look =
      'print("kept", [runtime.open_artifact("log.txt", n + 1).text() == f"entry {n}" for n in range(60)].count(True))'
    expect(await reader!.run(look)).toContain('kept 60')
  })

  it('without its PostgreSQL a bridge makes no call that it must record, no command works, and all do when it is back', async () => {
    const { one, command } = await start(1, { MCP_BRIDGE_AUDIT: 'required=1' })
    const owner = await one.connect('legacy')
    const token = (await command(one, 'token', 'create', 'ann')).split('\n')[0]!
    const statusFor = async (bearer: string) => {
      const headers = { authorization: `Bearer ${bearer}` }
      return (await fetch(one.url, { method: 'GET', headers })).status
    }
    const call = (id: number) => owner.run(`print(await mcp_hub.get_issue(id=${id}))`)
    expect(await call(1)).toContain('did get_issue')
    await postgres.down()
    const [failed, said, status] = await Promise.all([call(2), command(one, 'artifacts'), statusFor(token)])
    await postgres.up()
    // Not 401, because a client would discard its token.
    expect(status).toBe(503)
    expect(await statusFor(token)).not.toBe(503)
    expect(failed).toMatch(/The call was not made: it cannot be recorded\. PostgreSQL cannot be reached/)
    expect(said).toMatch(/PostgreSQL cannot be reached \(ECONNREFUSED[^]*MCP_BRIDGE_STORAGE/)
    for (const text of [failed, said]) for (const secret of SECRETS) expect(text).not.toContain(secret)
    expect(await call(3)).toContain('did get_issue')
    const reached = readFileSync(path.join(one.home, 'journal'), 'utf8')
    expect(reached.match(/"id":\d/g)).toEqual(['"id":1', '"id":3'])
    expect(await owner.run('print(runtime.artifacts())')).toContain('(no artifacts)')
  })
})

function giveHub(home: string): void {
  const hub = fixtureServer('ruled.mjs', path.join(home, 'journal'), path.join(home, 'listing.json'))
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { hub } }))
}

/** Files in the state folder that belong in the database. */
function kept(home: string): string[] {
  const shared = /^(artifacts|tools|memories\.json|http-tokens\.json|tokens\.json|toolbooks|audit|daily-costs\.json)$/
  const folders = [path.join(home, 'MCPs/.sandbridge'), path.join(home, 'MCPs/users/ann/.sandbridge')]
  return folders.flatMap((folder) => {
    try {
      return readdirSync(folder).filter((name) => shared.test(name))
    } catch {
      return []
    }
  })
}
