// @module-tag whole: a command for most tests
// This file verifies that one command turns recorded cells of a model into a workflow that runs again without a model.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import {
  bridgeEnv,
  fixtureServer,
  makeHome,
  openTestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

let home: string
let ledger: string
const lines = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [])
const sandbridge = (...args: string[]) => runCommand(args, bridgeEnv(home), { cwd: home })

/** The ids of the runs so far, oldest first, as a person sees them. */
async function runs(): Promise<string[]> {
  const { stdout } = await sandbridge('log', '--json')
  const entries = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>)
  return entries.filter(({ type }) => type === 'run').map((run) => run['run']!.slice(0, 8))
}

/** One bridge has recorded the runs of most tests. */
let recorded: string
/** Their ids, by what their cells do. */
let weekly: string[]
let called: string
let used: string
let failed: string
const RECORDED = [
  'import json\nweek = 47\ntitle = "Report"',
  'text = f"""{title}\n  {week}"""\nawait mcp_ledger.add_line(text=text.replace("\\n", ""))\n',
  'json.dumps([week, await mcp_ledger.lines()])',
  `
async def report(week: int, title: str = "Report") -> str:
    """Writes a line."""
    return await mcp_ledger.add_line(text=f"{title} {week}")

await report(47, title="Q")`,
  'rows = [1, 2]',
  'len(rows)',
  '1 / 0',
]

/** Begins with a home, and with no line in its ledger. */
function begin(folder: string): void {
  home = folder
  ledger = path.join(home, 'ledger')
  rmSync(ledger, { force: true })
}

function makeLedgerHome(env: Record<string, string> = {}): void {
  begin(makeHome())
  const entry = { ...fixtureServer('ledger.mjs'), env: { LEDGER: ledger, ...env } }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { ledger: entry } }))
}

beforeAll(async () => {
  makeLedgerHome()
  recorded = home
  const bridge = await openTestBridge({ home, env: { MCP_BRIDGE_AUDIT: 'replay' } })
  for (const code of RECORDED) await bridge.run(code)
  await bridge.client.close()
  const ids = await runs()
  expect(ids).toHaveLength(RECORDED.length)
  weekly = ids.slice(0, 3)
  ;[called, , used, failed] = ids.slice(3) as [string, string, string, string]
})
beforeEach(() => begin(recorded))
afterAll(() => rmSync(recorded, { recursive: true, force: true, maxRetries: 3 }))

it('sandbridge save makes one function of several cells, with parameters, replies to check it by, and a SKILL.md', async () => {
  const saved = await sandbridge(
    'save',
    ...weekly,
    'weekly-report',
    '--param',
    'week',
    '--description',
    'It\'s a "report".',
  )
  expect(saved.code, saved.stderr).toBe(0)
  expect(saved.stdout).toBe(
    "Saved 'weekly-report', version 1: weekly_report(week: int=47)\n" +
      '  calls ledger.add_line\n' +
      '  calls ledger.lines\n' +
      "  could be parameters, with --param NAME: title = 'Report'\n" +
      '  2 replies recorded: sandbridge run-workflow weekly-report --check\n',
  )
  expect(lines()).toEqual([])

  // With the recorded replies: nothing is called.
  const checked = await sandbridge('run-workflow', 'weekly-report', '--check')
  expect(checked, checked.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('[47, ') as string })
  expect(lines()).toEqual([])
  // With real calls.
  const ran = await sandbridge('run-workflow', 'weekly-report', '--week', '48')
  expect(ran.code, ran.stderr).toBe(0)
  expect(lines()).toEqual(['Report  48'])

  const folder = path.join(home, 'MCPs/.sandbridge/tools/weekly_report/1')
  expect(readFileSync(path.join(folder, 'SKILL.md'), 'utf8')).toMatch(
    /^---\nname: weekly-report\ndescription: "It's a \\"report\\"\."\n---\n/,
  )
})

it('sandbridge save keeps a function that a cell defined and called unchanged, with its earlier arguments', async () => {
  const saved = await sandbridge('save', called, 'one-report', '--json')
  expect(JSON.parse(saved.stdout), saved.stderr).toMatchObject({
    replyCount: 1,
    workflow: {
      description: 'Writes a line.',
      workflow: {
        title: 'one-report',
        parameters: [
          { name: 'week', type: 'int', required: true },
          { name: 'title', default: 'Report' },
        ],
        uses: [{ server: 'ledger', tool: 'add_line', destructive: true }],
      },
    },
  })
  const checked = await sandbridge('run-workflow', 'one-report', '--check')
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('added Q 47') as string })
  expect(lines()).toEqual([])
})

it('sandbridge save says which setting keeps the code, and refuses what cannot be a workflow, with the reason', async () => {
  const workflows = () => sandbridge('workflows', '--json')
  const before = await workflows()
  const save = async (...args: string[]) => (await sandbridge('save', ...args)).stderr
  const needing = await save(used, 'count-rows')
  expect(needing).toContain('rows (not defined)')
  expect(needing).toContain('Name the runs that define it as well')
  expect(await save(failed, 'broken')).toContain('failed: error')
  expect(await save('zzzz', 'x')).toContain("'zzzz' is not an id")
  expect(await save('0123456789abcdef', 'x')).toContain('The audit log has no run')
  expect(await save(used, '../up')).toContain('lower-case letters')
  expect(await save(used, 'x', '--param', 'missing')).toContain('missing cannot be a parameter')
  expect(await workflows()).toEqual(before)

  makeLedgerHome()
  const plain = await startBridge({ home, env: { MCP_BRIDGE_AUDIT: 'full' } })
  await plain.run('1')
  await plain.client.close()
  const [bare] = await runs()
  const refused = await sandbridge('save', bare!, 'one')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('MCP_BRIDGE_AUDIT=replay')
  expect(await workflows()).toMatchObject({ code: 0, stdout: '[]\n' })
})

it('sandbridge save keeps no secret of a server in the record, and no replies where a call lost its arguments', async () => {
  const secret = 'tr0ub4dor-and-3-more'
  makeLedgerHome({ LEDGER_TOKEN: secret })
  const bridge = await startBridge({ home, env: { MCP_BRIDGE_AUDIT: 'replay' } })
  await bridge.run('said = "".join(reversed("erom-3-dna-rod4bu0rt"))\nawait mcp_ledger.add_line(text=said)')
  await bridge.run(`await mcp_ledger.add_line(text="${secret}")`)
  await bridge.client.close()
  const folder = path.join(home, 'MCPs/.sandbridge/audit')
  const { stdout } = await sandbridge('log', '--json')
  expect(stdout).toContain('"result"')
  expect(stdout).not.toContain(secret)
  const [first, second] = await runs()
  const saved = await sandbridge('save', first!, 'say')
  expect(saved.stdout, saved.stderr).toContain('no recorded responses: the audit log lacks the responses or arguments')
  expect((await sandbridge('save', second!, 'say')).stderr).toContain('A secret was removed from the recorded code')
  expect(existsSync(folder)).toBe(true)
})
