// @module-tag whole: a command for most tests
// This file verifies that work in a cell can be saved as a workflow and run again without a model: the same calls, none
// of them twice, and none at all when the servers have changed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { inTerminal } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { sharedBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const SAVE = `
async def report(week: int, title: str = "Report", dry: bool = False) -> str:
    """Writes two lines for a week. Then counts them."""
    print("working")
    a = await mcp_ledger.add_line(text=f"first {title} {week}")
    b = await mcp_ledger.add_line(text=f"second {title} {week}")
    lines = await mcp_ledger.lines()
    return f"{a}, {b}, {type(week).__name__}"
runtime.save_workflow("weekly-report", report)`

const OTHERS = `
def keep():
    runtime.save_artifact("kept.txt", b"x")
runtime.save_workflow("keep", keep)
async def count_lines() -> int:
    """Counts the lines."""
    return len((await mcp_ledger.lines()).splitlines())
runtime.save_workflow("count-lines", count_lines)
async def sly(tool: str):
    return await runtime.call_tool("ledger", tool)
runtime.save_workflow("sly", sly)
async def tidy():
    try:
        await mcp_ledger.add_line(text="tidy")
    except Exception:
        pass
runtime.save_workflow("tidy", tidy)
def clash(version: str, timeout: int = 1, remove: bool = False):
    return f"{version} {timeout} {remove}"
runtime.save_workflow("clash", clash)`

/** The bridge in which the workflows are saved. */
const author = sharedBridge()
/** Homes that tests begin with a copy of: with the one workflow, and with all. */
let savedOne: string
let savedAll: string
/** Of the test. */
let home: string
let ledger: string
const made: string[] = []
const mark = (name: string) => writeFileSync(`${ledger}.${name}`, '')
const lines = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [])
const sandbridge = (...args: string[]) => runCommand(args, bridgeEnv(home), { cwd: home })
const run = (...args: string[]) => sandbridge('run-workflow', 'weekly-report', ...args)

function writeServers(folder: string): void {
  const entry = { ...fixtureServer('ledger.mjs'), env: { LEDGER: path.join(folder, 'ledger') } }
  writeFileSync(path.join(folder, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { ledger: entry } }))
}

/** A new home with what another one keeps, and a ledger of its own. */
function copyOf(other: string): string {
  const copy = makeHome()
  made.push(copy)
  // A bridge that runs there may be writing, and its files under other names are gone at once.
  const filter = (file: string) => !file.endsWith('.tmp')
  cpSync(path.join(other, 'MCPs'), path.join(copy, 'MCPs'), { recursive: true, filter })
  writeServers(copy)
  return copy
}

function begin(from: string): void {
  home = copyOf(from)
  ledger = path.join(home, 'ledger')
}

beforeAll(async () => {
  writeServers(author().home)
  expect(await author().run(SAVE)).toContain('(version 1)')
  savedOne = copyOf(author().home)
  await author().run(OTHERS)
  savedAll = copyOf(author().home)
})
beforeEach(() => begin(savedOne))
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

it('a workflow is found by a search, listed, called in a later session, and has a SKILL.md', async () => {
  const line =
    "await workflows.weekly_report(week: int, title: str='Report', dry: bool=False) -> str  # workflow; Writes two lines for a week"
  const bridge = await startBridge({ home })
  expect(await bridge.run('print(runtime.workflows())')).toBe(`${line} (version 1)`)
  expect(await bridge.run('dir(workflows)')).toBe("['weekly_report']")
  expect(await bridge.run('print(await runtime.search_tool_docs("two lines for a week", limit=1))')).toContain(line)
  expect(await bridge.run('await workflows.weekly_report(week=47)')).toContain('added second Report 47, int')
  expect(lines()).toEqual(['first Report 47', 'second Report 47'])
  const listed = JSON.parse((await sandbridge('workflows', '--json')).stdout) as { workflow: object }[]
  expect(listed).toMatchObject([
    {
      name: 'weekly_report',
      workflow: {
        title: 'weekly-report',
        parameters: [
          { name: 'week', type: 'int', required: true },
          { name: 'title', type: 'str', default: 'Report' },
          { name: 'dry', default: false },
        ],
        uses: [
          { server: 'ledger', tool: 'add_line', readOnly: false, destructive: true },
          { server: 'ledger', tool: 'lines', readOnly: true, destructive: false },
        ],
      },
    },
  ])
  const skill = readFileSync(path.join(home, 'MCPs/.sandbridge/tools/weekly_report/1/SKILL.md'), 'utf8')
  expect(skill).toMatch(
    /^---\nname: weekly-report\ndescription: "Writes two lines for a week. Then counts them."\n---\n/,
  )
  expect(skill).toContain('sandbridge run-workflow weekly-report --week VALUE --title VALUE --dry VALUE')
})

it('a workflow that takes longer than --timeout ends, and fails', async () => {
  const slow = 'import time\ndef nap():\n    time.sleep(100)\nruntime.save_workflow("nap", nap)'
  expect(await (await startBridge({ home })).run(slow)).toContain('(version 1)')
  const ended = await sandbridge('run-workflow', 'nap', '--timeout', '1')
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  expect(ended.stderr).toContain('Timed out after 1 s')
  const wrong = await sandbridge('run-workflow', 'nap', '--timeout', '100000')
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('at most 86400')])
})

it('a workflow runs without a model: output on stdout, values of the right types, exit codes', async () => {
  const done = await run('--week', '47', '--title=Q')
  expect(done).toEqual({ code: 0, stdout: "working\n'added first Q 47, added second Q 47, int'\n", stderr: '' })
  expect(lines()).toEqual(['first Q 47', 'second Q 47'])
  for (const [args, problem] of [
    [['--week', 'x'], '--week takes a whole number'],
    [[], '--week is missing'],
    [['--weak', '1'], 'Did you mean week?'],
    [['--week', '1', '--dry', 'perhaps'], "'perhaps' is not a parameter"],
  ] as const) {
    const wrong = await run(...args)
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain(problem)
  }
  expect((await sandbridge('run-workflow', 'weekly-raport')).stderr).toContain('Did you mean weekly_report?')
  rmSync(path.join(home, 'MCPs/.sandbridge/tools'), { recursive: true })
  expect((await sandbridge('run-workflow', 'weekly-report')).stderr).toContain('`sandbridge save` makes a workflow')
})

it('a workflow shows what it would do, and has nothing to check itself against, without a call', async () => {
  const dry = await run('--week', '47', '--dry-run')
  expect(dry.stdout).toContain('may call ledger.add_line, which may change something\n  may call ledger.lines\n')
  expect((await run('--check')).stderr).toContain('is missing')
  expect(lines()).toEqual([])
})

describe('a workflow that has run', () => {
  const fixture = () => readFileSync(path.join(home, 'MCPs/.sandbridge/workflows/weekly_report/replies.json'), 'utf8')
  let recorded: string

  beforeAll(async () => {
    begin(savedOne)
    recorded = home
    expect(await run('--week', '47')).toMatchObject({ code: 0 })
  })
  beforeEach(() => begin(recorded))

  it('a workflow checks itself against recorded replies, without a call', async () => {
    const checked = await run('--check')
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('added first Report 47') as string })
    const unknown = await run('--check', '--week', '9')
    expect(unknown.code).toBe(1)
    expect(unknown.stdout + unknown.stderr).toContain('No reply of ledger.add_line was recorded')
    expect(lines()).toEqual([])
  })

  it('a workflow records the replies of a run anew with --record', async () => {
    expect(fixture()).toContain('added first Report 47')
    await run('--week', '2')
    expect(fixture()).not.toContain('Report 2')
    await run('--week', '3', '--record')
    expect(fixture()).toContain('added first Report 3')
  })

  it('a workflow reports a tool that has changed, and makes no call when one is gone', async () => {
    mark('changed')
    await sandbridge('index')
    const changed = await run('--check')
    expect(changed).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('ledger.add_line have changed') as string,
    })
    mark('promises')
    await sandbridge('index')
    const promised = await run('--check')
    expect(promised.code).toBe(3)
    expect(promised.stderr).toMatch(/recorded reply of ledger\.add_line does not fit .* it has no structured content/)
    mark('gone')
    await sandbridge('index')
    const gone = await run('--week', '48')
    expect(gone).toMatchObject({ code: 3, stdout: '' })
    expect(gone.stderr).toContain("Server 'ledger' no longer has the tool 'add_line'.\nNothing was called.")
    expect(lines()).toEqual([])
  })
})

describe('a workflow that has failed', () => {
  let failed: string

  beforeAll(async () => {
    begin(savedOne)
    failed = home
    mark('refuse')
    const refused = await run('--week', '47')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('This run made 1 call with an effect. Go on with --resume, which repeats none.')
    expect(lines()).toEqual(['first Report 47'])
  })
  beforeEach(() => {
    begin(failed)
    cpSync(path.join(failed, 'ledger'), ledger)
  })

  it('a workflow resumes a run that failed and repeats none of its calls', async () => {
    expect((await run('--week', '48', '--resume')).stderr).toContain('the run that failed had other arguments')
    const resumed = await run('--week', '47', '--resume')
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(lines()).toEqual(['first Report 47', 'second Report 47'])
    expect((await run('--week', '47', '--resume')).stderr).toContain('There is nothing to resume')
    // Without the arguments, too, which the run that failed would have.
    expect((await run('--resume')).stderr).toContain('There is nothing to resume: the last run ended well')
  })

  it('a workflow does not repeat a call that may or may not have taken effect', async () => {
    const folder = path.join(home, 'MCPs/.sandbridge/workflows/weekly_report')
    const file = path.join(
      folder,
      readdirSync(folder).find((name) => name.startsWith('unfinished'))!,
    )
    // The bridge was killed before the first reply arrived.
    const left = readFileSync(file, 'utf8').split('\n').slice(0, 2).join('\n')
    writeFileSync(file, `${left.replace(/"pid":\d+/, '"pid":4194305')}\n`)
    const resumed = await run('--week', '47', '--resume')
    expect(resumed.code).toBe(1)
    expect(resumed.stdout + resumed.stderr).toContain('it may or may not have taken effect')
    expect(resumed.stderr).toMatch(/^Resuming the run of [-\d:.TZ]+, in which no call was answered\.$/m)
    const open = '1 call with an effect was never answered: see what it did before you go on with --resume.'
    expect(resumed.stderr).toContain(open)
    expect(resumed.stderr).not.toContain('This run made')
    expect(lines()).toEqual(['first Report 47'])
  })
})

it('a workflow resumes a killed run, not one that goes on, whatever other runs do meanwhile', async () => {
  mark('silent')
  const killed = spawn(process.execPath, [CLI, 'run-workflow', 'weekly-report', '--week', '1'], {
    env: bridgeEnv(home),
    cwd: home,
    stdio: 'ignore',
  })
  const exited = once(killed, 'exit')
  onTestFinished(() => void killed.kill('SIGKILL'))
  await expect.poll(lines, { timeout: 60_000 }).toEqual(['first Report 1'])
  rmSync(`${ledger}.silent`)
  expect((await run('--week', '2')).code).toBe(0)
  const refused = await run('--week', '1', '--resume')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('has not ended')])
  killed.kill('SIGKILL')
  await exited
  const resumed = await run('--resume', '--unanswered', 'again')
  expect(resumed.code, resumed.stderr).toBe(0)
  expect(lines()).toEqual(['first Report 1', 'first Report 2', 'second Report 2', 'first Report 1', 'second Report 1'])
})

it('a workflow whose code caught the refusal of a call says so, and so does its exit code', async () => {
  begin(savedAll)
  writeFileSync(path.join(home, 'MCPs/permissions.json'), '{"permissions": {"deny": ["ledger__add_line"]}}')
  const refused = await sandbridge('run-workflow', 'tidy')
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('1 call refused: ledger.add_line')])
  rmSync(path.join(home, 'MCPs/permissions.json'))
  expect(await sandbridge('run-workflow', 'tidy')).toMatchObject({ code: 0, stderr: '' })
})

it('a workflow makes no call that a rule of today does not allow', async () => {
  const rules = (permissions: object) =>
    writeFileSync(path.join(home, 'MCPs/permissions.json'), JSON.stringify({ permissions }))
  for (const [verdict, problem] of [
    ['deny', 'PERMISSION_DENIED'],
    // A script has no one at its terminal.
    ['ask', 'PERMISSION'],
  ] as const) {
    rules({ [verdict]: ['ledger__add_line'] })
    const refused = await run('--week', '47')
    expect(refused.code, refused.stdout).toBe(1)
    expect(refused.stdout + refused.stderr).toContain('ledger__add_line')
    expect(refused.stdout + refused.stderr, problem).not.toContain('added')
  }
  expect(lines()).toEqual([])
  rules({ allow: ['ledger__add_line'] })
  expect((await run('--week', '47')).code).toBe(0)
  expect(lines()).toHaveLength(2)
})

it('a workflow reports a package that is gone, and names the artifacts that a run has kept', async () => {
  begin(savedAll)
  const kept = await sandbridge('run-workflow', 'keep')
  expect(kept).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'Kept kept.txt, version 1. Show it: sandbridge artifacts kept.txt\n',
  })
  const json = JSON.parse((await sandbridge('run-workflow', 'keep', '--json')).stdout) as object
  expect(json).toMatchObject({ status: 'ok', artifacts: [{ name: 'kept.txt' }] })
  const file = path.join(home, 'MCPs/.sandbridge/tools/weekly_report/1/tool.json')
  const tool = JSON.parse(readFileSync(file, 'utf8')) as { workflow: { packages: string[] } }
  tool.workflow.packages = ['tinypkg==1.0']
  writeFileSync(file, JSON.stringify(tool))
  const dry = await run('--week', '47', '--dry-run')
  expect(dry.stderr).toContain('Cells do not have the package tinypkg==1.0. Run: sandbridge packages add')
  expect(dry.stdout).toContain('needs the package tinypkg==1.0')
})

it('a workflow has versions, and is refused where it could not be called from outside', async () => {
  const bridge = author()
  expect(await bridge.run(SAVE)).toContain('(version 1)')
  expect(await bridge.run(SAVE.replace('two lines', '2 lines'))).toContain('(version 2)')
  expect(readdirSync(path.join(bridge.home, 'MCPs/.sandbridge/tools/weekly_report'))).toEqual(['1', '2'])
  expect(await bridge.run('def f(*rest): pass\nruntime.save_workflow("f", f)')).toContain(
    'the parameter rest has no name',
  )
  for (const name of ['../f', '1x', '-f'])
    expect(await bridge.run(`def f(): pass\nruntime.save_workflow("${name}", f)`)).toContain(
      'ArgumentsError: the name of a workflow has lower-case letters, digits and - only, and starts with a letter',
    )
  expect(await bridge.run('runtime.save_workflow("class", f)')).toContain(
    "ArgumentsError: a workflow cannot be called 'class', which is a keyword of Python",
  )
  expect(await bridge.run('runtime.save_workflow("match", f)')).toContain('await workflows.match()')
})

it('a workflow is a tool and a prompt of its own where MCP_BRIDGE_EXPOSE says so', async () => {
  begin(savedAll)
  const other = await startBridge({ home, env: { MCP_BRIDGE_EXPOSE: 'weekly-report,count-lines,sly,no-such' } })
  const { tools } = await other.client.listTools()
  expect(
    tools.map(({ name, annotations: { readOnlyHint, destructiveHint } = {} }) => [name, readOnlyHint, destructiveHint]),
  ).toEqual([
    ['run_python', undefined, undefined],
    ['weekly-report', false, true],
    ['count-lines', true, false],
    ['sly', false, true],
  ])
  expect(tools[1]!.inputSchema).toEqual({
    type: 'object',
    properties: {
      week: { type: 'integer' },
      title: { type: 'string', default: 'Report' },
      dry: { type: 'boolean', default: false },
    },
    required: ['week'],
    additionalProperties: false,
  })
  const call = (name: string, args: object) =>
    other.client.callTool({ name, arguments: { ...args } }, { timeout: 120_000 })
  expect(JSON.stringify(await call('weekly-report', { week: 3 }))).toContain('added second Report 3, int')
  expect(await call('weekly-report', {})).toMatchObject({ isError: true })
  // What clients encode twice, and what they add.
  const odd = JSON.stringify(await call('weekly-report', { week: '4', dry: 'true', title: null, toolCallId: 'c' }))
  expect(odd).toContain("The argument 'toolCallId' was ignored: weekly-report takes week, title and dry.")
  expect(odd).toContain('"isError":false')
  const refusals = [
    [{ week: 'three' }, "'week' of weekly-report must be int, not 'three'"],
    [{ week: 3, titel: 'x' }, "has no parameter 'titel'"],
  ] as const
  for (const [given, why] of refusals) {
    const refused = await call('weekly-report', given)
    expect([refused.isError, JSON.stringify(refused)]).toEqual([true, expect.stringContaining(why)])
  }
  // Two reports of two lines.
  expect(await call('count-lines', {})).toMatchObject({ content: [{ text: '4' }] })
  expect(await call('no-such', {})).toMatchObject({ isError: true })
  await expect(call('weekly_report', {})).rejects.toThrow('there are run_python, weekly-report, count-lines and sly')
  const { prompts } = await other.client.listPrompts()
  expect(prompts.map(({ name }) => name)).toEqual(['weekly-report', 'count-lines', 'sly'])
  const got = await other.client.getPrompt({ name: 'weekly-report', arguments: { week: '5' } })
  expect(JSON.stringify(got.messages)).toContain('await workflows.weekly_report(week: int')
  await expect(author().client.callTool({ name: 'weekly-report' })).rejects.toThrow('the only one is run_python')
})

it('a saved tool is a prompt, and no tool, where MCP_BRIDGE_EXPOSE says so', async () => {
  const first = await startBridge()
  await first.run(`
async def double_it(number: int) -> int:
    "Doubles a number."
    return number * 2
runtime.save_tool(double_it)
1`)
  const { client } = await startBridge({ home: first.home, env: { MCP_BRIDGE_EXPOSE: 'double-it,no-such' } })
  const { prompts } = await client.listPrompts()
  expect(prompts).toMatchObject([{ name: 'double-it', description: 'Doubles a number.', arguments: [] }])
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['run_python'])
  const got = await client.getPrompt({ name: 'double-it' })
  expect(JSON.stringify(got.messages)).toContain('from user_tools import double_it; await double_it(number: int)')
  await expect(client.getPrompt({ name: 'no-such' })).rejects.toThrow()
})

it('run-workflow shows in a terminal which tool it calls, and leaves only what was printed', async () => {
  const command = [process.execPath, CLI, 'run-workflow', 'weekly-report', '--week', '47']
  const shown = await inTerminal(command, bridgeEnv(home), { cwd: home })
  expect(shown).toContain('calling ledger.add_line')
  // Removes what was overwritten on the screen.
  const left = shown.replaceAll(/\r?[^\n\r]*\r<K/g, '')
  expect(left).not.toContain('calling')
  expect(left).toContain('working\n')
  expect(left).toContain('added second Report 47, int')
  expect(lines()).toEqual(['first Report 47', 'second Report 47'])
})

it('a parameter that is named like an option is written after --, and messages say so', async () => {
  begin(savedAll)
  const clash = (...args: string[]) => sandbridge('run-workflow', 'clash', ...args)
  const note = '--timeout is an option of this command: write the parameter as -- --timeout VALUE'
  expect(await clash('--timeout', '60', '--', '--version', '1', '--timeout', '5')).toMatchObject({
    stdout: "'1 5 False'\n",
    stderr: '',
  })
  // No command is asked for the version of the program, so it is a parameter, too.
  const noted = await sandbridge('-v', 'run-workflow', 'clash', '--version', '1.2.0', '--timeout', '60')
  expect(noted.stdout).toBe("'1.2.0 1 False'\n")
  expect(noted.stderr).toContain(note)
  for (const [args, problem] of [
    [['--timeout', '5'], '--version is missing'],
    [['--version', '1', '--check', 'x'], "'x' is not a parameter"],
  ] as const) {
    const { code, stderr } = await clash(...args)
    expect(code).toBe(2)
    expect(stderr).toContain(problem)
    expect(stderr).toContain(note)
  }
  expect((await run('--version')).stderr).toContain("There is no parameter 'version'")
  expect((await sandbridge('servers', '--version')).stdout).toMatch(/^\d+\.\d+/)
})

it('a schedule is not removed by a parameter that is named like --remove', async () => {
  begin(savedAll)
  const schedule = (...args: string[]) => sandbridge('schedule', 'clash', ...args)
  const added = await schedule('0 8 * * 1', '--zone', 'UTC', '--', '--version', '1', '--remove', 'true')
  expect(added.stdout).toContain("'clash' runs next at")
  const refused = await schedule('0 8 * * 1', '--version', '1', '--remove', 'true')
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain("--remove takes only a name: leave out '0 8 * * 1'")
  expect(refused.stderr).toContain('-- --remove VALUE')
  expect(JSON.parse((await sandbridge('schedule', '--json')).stdout)).toMatchObject([
    { id: 'clash', words: ['--version', '1', '--remove', 'true'] },
  ])
  expect((await schedule('--remove')).stdout).toContain('no longer scheduled')
})
