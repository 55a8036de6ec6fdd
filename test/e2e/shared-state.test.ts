// This file verifies that two bridges on one PostgreSQL are one to their users: what is kept through one is there through the other.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, CLI } from '../support/bridge-process.ts'
import { type HttpBridge, startHttpBridge } from '../support/http-bridge.ts'
import { NO_POSTGRES, PASSWORD, TestPostgres } from '../support/postgres.ts'
import { runProgram } from '../support/run-program.ts'

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

describe.skipIf(NO_POSTGRES)('two bridges on one PostgreSQL', () => {
  let postgres: TestPostgres

  beforeAll(async () => {
    postgres = await TestPostgres.start()
  })
  afterAll(() => postgres?.remove())

  async function startTwo() {
    const env = { MCP_BRIDGE_STORAGE: await postgres.database() }
    const bridges = await Promise.all([startHttpBridge({ env }), startHttpBridge({ env })])
    const [one, two] = bridges
    const command = async ({ home }: HttpBridge, ...args: string[]) => {
      const { stdout, stderr } = await runProgram(process.execPath, [CLI, ...args], bridgeEnv(home, env))
      return stdout + stderr
    }
    onTestFinished(() => {
      for (const { stderr } of bridges) expect(stderr()).not.toMatch(/correct-horse/)
    })
    return { one, two, command, env }
  }

  it('artifacts, saved functions, memories and tokens of a user are the same through two bridges on one PostgreSQL', async () => {
    const { one, two, command } = await startTwo()
    const token = (await command(one, 'token', 'create', 'ann')).split('\n')[0]!
    const [first, second] = await Promise.all([one, two].map((bridge) => bridge.connect('legacy', { token })))
    expect(await first!.run(KEEP)).not.toMatch(/Error/)
    expect(await second!.run(LOOK)).toContain("42 kept-by-ann {'week': 47} ['report.txt']")
    const uri = 'sandbridge://artifact/report.txt'
    expect(JSON.stringify(await second!.client.readResource({ uri }))).toContain('kept-by-ann')
    // Nothing of it lies in a folder.
    for (const { home } of [one, two]) expect(kept(home)).toEqual([])

    const owner = await two.connect('legacy')
    expect(await owner.run('print(runtime.artifacts())')).not.toContain('report.txt')
    await owner.run('runtime.save_artifact("plan.txt", "of the owner")')
    expect(await command(one, 'artifacts', '--json')).toContain('"plan.txt"')
    expect(await command(one, 'artifacts', 'show', 'plan.txt')).toBe('of the owner')
    expect(await command(one, 'artifacts', 'rm', 'plan.txt')).toContain('Deleted')
    expect(await owner.run('print(runtime.artifacts())')).not.toContain('plan.txt')

    expect(await command(two, 'token', 'list')).toContain('ann')
    await command(two, 'token', 'revoke', 'ann')
    for (const bridge of [one, two])
      await expect(bridge.connect('legacy', { token })).rejects.toThrow(/401|Unauthorized/i)
  })

  it('a cell that saves while PostgreSQL crashes and starts again loses nothing, and other bridges see all of it', async () => {
    const { one, two } = await startTwo()
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

  it('a bridge does not start without its PostgreSQL, and says what to do without the password', async () => {
    const { one, command } = await startTwo()
    await postgres.down()
    const said = await command(one, 'artifacts')
    await postgres.up()
    expect(said).toMatch(/PostgreSQL cannot be reached \(ECONNREFUSED[^]*MCP_BRIDGE_STORAGE/)
    for (const secret of [PASSWORD, decodeURIComponent(PASSWORD)]) expect(said).not.toContain(secret)
    // The bridges live on.
    const owner = await one.connect('legacy')
    expect(await owner.run('print(runtime.artifacts())')).toContain('(no artifacts)')
  })
})

/** What lies in the state folder of what a database keeps. */
function kept(home: string): string[] {
  const shared = /^(artifacts|tools|memories\.json|http-tokens\.json|tokens\.json|listings|audit|daily-costs\.json)$/
  const folders = [path.join(home, 'MCPs/.sandbridge'), path.join(home, 'MCPs/users/ann/.sandbridge')]
  return folders.flatMap((folder) => {
    try {
      return readdirSync(folder).filter((name) => shared.test(name))
    } catch {
      return []
    }
  })
}
