// @module-tag whole: a resident for each test; client-mixing.test.ts and top.test.ts have journeys
// Commands that a user types while a resident bridge runs: it runs them, with the terminal, folder and environment that
// they were typed in, and they say the same as without it.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { BUILT_CLI, CLI, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsTerminal, runInTerminal, type Step } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { runsTogether } from '@sandbridge/core/test/support/suite/at-end.ts'
import { needsLinux, needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import {
  isAlive,
  kill,
  type RelayClient,
  type ResidentHome,
  residentHome,
  sharedResidentHome,
} from '@sandbridge/core/test/support/bridges/resident-clients.ts'
import { writePermissions } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { type ProgramResult, runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'

runsTogether()
beforeEach(() => needsPosix('residents of Windows have tests of their own: windows.test.ts'))

const WHO = { ...fixtureServer('whoami.mjs'), env: { WHO: '${WHO:-nobody}' } }
const PID = 'print((await mcp_who.who())["pid"])'
const OFF = { MCP_BRIDGE_RESIDENT: 'off' }
const LIVED = '[print("begun", flush=True), await __import__("asyncio").sleep(60)]'

const type = (
  { placeOf }: ResidentHome,
  name: string,
  words: string[],
  { own, input, cli = CLI }: { own?: Record<string, string>; input?: string; cli?: string } = {},
): Promise<ProgramResult> => {
  const { cwd, env } = placeOf(name, own)
  return runProgram(process.execPath, [cli, ...words], env, { cwd, ...(input !== undefined && { input }) })
}

const pidOf = async (client: RelayClient): Promise<string> => `${await client.run(PID)}\n`

/** Of the tests that end no resident, and that need no settings or rules of their own. */
const shared = sharedResidentHome({ who: WHO })

describe('a command', () => {
  it('uses the server that the client of its folder has started, and no other', async () => {
    const house = await shared()
    const ann = await house.connect('ann')
    const server = await pidOf(ann)
    expect(await type(house, 'ann', ['exec', '-c', PID])).toEqual({ code: 0, stdout: server, stderr: '' })
    // Controls: another folder and environment, and no resident.
    const [bob, alone] = [
      await type(house, 'bob', ['exec', '-c', PID]),
      await type(house, 'ann', ['exec', '-c', PID], { own: OFF }),
    ]
    expect(bob.stdout).toMatch(/^\d+\n$/)
    expect(new Set([server, bob.stdout, alone.stdout]).size).toBe(3)
    expect(house.residents()).toHaveLength(1)
  })

  it('fails where its output cannot be written, with a resident as without', async () => {
    needsLinux('other systems have no /dev/full')
    const house = await shared()
    await house.connect('ann')
    const { cwd, env } = house.placeOf('ann')
    const ends = async (own: Record<string, string>, to: string) => {
      const line = `"$0" "$1" exec -c 'print(1)' > ${to}`
      return runProgram('sh', ['-c', line, process.execPath, CLI], { ...env, ...own }, { cwd })
    }
    expect(await ends({}, '/dev/null')).toMatchObject({ code: 0, stderr: '' })
    const failed = {
      code: 1,
      stderr: expect.stringMatching(/^sandbridge: the output cannot be written: .*no space left/),
    }
    expect(await ends(OFF, '/dev/full')).toMatchObject(failed)
    // The error of the output and the end of the command come in either order.
    for (let time = 0; time < 4; time += 1) expect(await ends({}, '/dev/full')).toMatchObject(failed)
  })

  it('says the same with a resident as without', { timeout: 240_000 }, async () => {
    const house = residentHome({ who: WHO }, { MCP_BRIDGE_AUDIT: 'off' })
    const ann = await house.connect('ann')
    await ann.run(PID)
    writeFileSync(path.join(house.placeOf('ann').cwd, 'cell.py'), 'print("from a file")\n"value"')
    for (const words of [
      ['exec', '-c', '1 + 1'],
      ['exec', 'cell.py'],
      ['exec', 'missing.py'],
      ['exec', '-c', '1 / 0', '--json'],
      ['exec', '--servers', 'none', '-c', '1'],
      ['exec', '--nonsense'],
      ['servers', 'who'],
      ['servers', '--sources'],
      ['servers', 'whom'],
      ['search', 'who', 'am', 'I'],
      ['search', 'who', '--json'],
      ['tools', 'who'],
      ['approve'],
      ['log'],
      ['shell'],
    ]) {
      const [here, there] = [await type(house, 'ann', words, { own: OFF }), await type(house, 'ann', words)]
      expect(there, words.join(' ')).toEqual(here)
    }
  })

  it('loads no bridge, no schemas, no MCP package and nothing for hashes', async () => {
    // The program of the tests is split into other files.
    const house = residentHome({}, {}, BUILT_CLI)
    const hook = path.join(house.home, 'loaded.cjs')
    const list =
      "require('fs').writeFileSync(__dirname + '/loaded', [...Object.keys(require.cache), ...process.moduleLoadList].join(','))"
    writeFileSync(
      hook,
      `if (process.argv[2] !== 'run' && process.argv[2] !== 'resident') process.on('exit', () => { ${list} })`,
    )
    // Part of what residents have in common.
    const own = { NODE_OPTIONS: `--require ${hook}` }
    await house.connect('ann', own)
    const loaded = async (more: Record<string, string>) => {
      expect(
        await type(house, 'ann', ['exec', '-c', '1 + 1'], { own: { ...own, ...more }, cli: BUILT_CLI }),
      ).toMatchObject({
        stdout: '2\n',
      })
      const files = readFileSync(path.join(house.home, 'loaded'), 'utf8').split(',')
      const ours = files.filter((file) => file.includes('/dist/'))
      const bytes = ours.reduce((sum, file) => sum + statSync(file).size, 0)
      return { files: ours.length, bytes, hasHashes: files.includes('NativeModule crypto') }
    }
    // Each file and each module of Node takes time: the entry point, which an old Node reads, too, and the program.
    const { files, bytes, hasHashes } = await loaded({})
    expect({ files, hasHashes }).toEqual({ files: 2, hasHashes: false })
    expect(bytes).toBeLessThan(100_000)
    // Control.
    const without = await loaded(OFF)
    expect(without.hasHashes).toBe(true)
    expect(without.bytes).toBeGreaterThan(1_000_000)
  })

  it('sees what has changed since the one before it', async () => {
    const house = residentHome({ who: WHO })
    // Keeps the resident.
    await house.connect('bob')
    const who = async (server: string, own = {}) => {
      const code = `print((await mcp_${server}.who())["who"])`
      return (await type(house, 'ann', ['exec', '-c', code], { own })).stdout
    }
    expect(await who('who', { WHO: 'one' })).toBe('one\n')
    expect(await who('who', { WHO: 'one' })).toBe('one\n')
    expect(await who('who', { WHO: 'two' })).toBe('two\n')
    const file = path.join(house.home, 'MCPs/servers.json')
    writeFileSync(file, JSON.stringify({ mcpServers: { who: WHO, added: { ...WHO, env: { WHO: 'added' } } } }))
    expect(await who('added', { WHO: 'two' })).toBe('added\n')
    writeFileSync(file, JSON.stringify({ mcpServers: { who: { ...WHO, env: { WHO: 'changed' } } } }))
    expect(await who('who', { WHO: 'two' })).toBe('changed\n')
    expect(house.residents()).toHaveLength(1)
  })

  it('has the settings of now, and so has a client, before any cell has run with them', async () => {
    const house = residentHome({ who: WHO }, { MCP_BRIDGE_SOURCES: '' })
    await house.connect('bob')
    const set = (settings: object): void =>
      writeFileSync(path.join(house.home, 'MCPs/settings.json'), JSON.stringify(settings), { mode: 0o600 })
    const ran = async (): Promise<number | null> => (await type(house, 'ann', ['exec', '-c', PID])).code
    const listed = async (): Promise<string> => (await type(house, 'ann', ['servers', '--json'])).stdout
    // Controls: what is to be forbidden is allowed, and what is to be left out is there.
    expect([await ran(), await listed()]).toEqual([0, expect.stringContaining('"who"')])
    set({ permissions: { preset: 'readonly' } })
    expect(await ran()).toBe(1)
    set({ servers: { sources: ['-mcps'] } })
    expect(await listed()).not.toContain('"who"')
    expect(await ran()).toBe(1)
    const { welcome } = await house.connect('cyd')
    expect(JSON.stringify(welcome)).not.toContain('who.')
    set({ servers: { sources: ['mcps'] } })
    expect([await ran(), await listed()]).toEqual([0, expect.stringContaining('"who"')])
    expect(JSON.stringify((await house.connect('dan')).welcome)).toContain('who.')
    expect(house.residents()).toHaveLength(1)
  })

  it('has the rules of the project that it was typed in', async () => {
    const house = await shared()
    const { cwd } = house.placeOf('dan')
    mkdirSync(path.join(cwd, '.sandbridge'))
    writeFileSync(path.join(cwd, '.sandbridge/permissions.json'), '{"permissions":{"deny":["who__*"]}}')
    expect((await type(house, 'cyd', ['exec', '-c', PID])).code).toBe(0)
    const denied = await type(house, 'dan', ['exec', '-c', PID])
    expect(denied).toMatchObject({ code: 1, stderr: expect.stringContaining('who.who is denied') })
    expect(house.residents()).toHaveLength(1)
  })

  it('hears only what was typed to it, and takes nothing that it does not read', async () => {
    const house = await shared()
    const [one, two] = await Promise.all([
      type(house, 'eve', ['exec', '-'], { input: 'print("first")' }),
      type(house, 'eve', ['exec', '-'], { input: 'print("second")' }),
    ])
    expect([one.stdout, two.stdout]).toEqual(['first\n', 'second\n'])
    const { cwd, env } = house.placeOf('eve')
    const line = `"${process.execPath}" "${CLI}" exec -c 1; cat`
    expect((await runProgram('sh', ['-c', line], env, { cwd, input: 'left\n' })).stdout).toBe('1\nleft\n')
  })

  it('keeps its output whole when it is long', async () => {
    const house = await shared()
    const { stdout } = await type(house, 'fay', ['exec', '-c', 'print("ä" * 3_000_000)'])
    expect(stdout).toBe(`${'ä'.repeat(3_000_000)}\n`)
  })

  it('saves images where it was typed', async () => {
    const house = await shared()
    const figure = 'type("F", (), {"_repr_png_": lambda self: b"\\x89PNG", "__repr__": lambda self: "<F>"})()'
    const said = await type(house, 'gil', ['exec', '-c', figure])
    expect(said).toEqual({ code: 0, stdout: '<F>\n', stderr: 'Saved image-1.png\n' })
    expect(statSync(path.join(house.placeOf('gil').cwd, 'image-1.png')).size).toBe(4)
  })
})

describe.concurrent('at a terminal', () => {
  beforeEach(needsTerminal)
  const inTerminal = ({ placeOf }: ResidentHome, steps: Step[], words: string[]): Promise<ProgramResult> => {
    const { cwd, env } = placeOf('ann')
    return runInTerminal([process.execPath, CLI, ...words], { ...env, IN_TERMINAL_LIMIT: '80' }, { cwd, steps })
  }

  it('a shell keeps variables, completes, and is stopped', async () => {
    const house = residentHome({ who: WHO })
    await house.connect('ann')
    const steps: Step[] = [
      ['>>> ', 'number = 6\r'],
      ['>>> ', 'def double(x):\r'],
      ['... ', '    return 2 * x\r'],
      ['... ', '\r'],
      ['>>> ', 'doub\t'],
      ['double', '(number) + 100\r'],
      ['112', 'print((await mcp_who.who())["who"])\r'],
      ['ann\r\n', 'import asyncio; print("wa" + "it"); await asyncio.sleep(60)\r'],
      ['wait\r\n', '\u0003'],
      ['KeyboardInterrupt', ''],
      ['>>> ', 'begun = ['],
      ['begun = [', '\u0003'],
      ['>>> ', '\u0004'],
    ]
    const { code, stdout } = await inTerminal(house, steps, ['shell'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('112') })
  })

  it('a cell asks its user, and no other', async () => {
    const house = residentHome({ who: WHO })
    writePermissions(house.home, { ask: ['who__*'] })
    const ann = await house.connect('ann')
    const [yes, no] = await Promise.all([
      inTerminal(house, [['1 to 6, or nothing for no: ', '1\r']], ['exec', '-c', PID]),
      inTerminal(house, [['1 to 6, or nothing for no: ', '5\r']], ['exec', '-c', PID]),
    ])
    expect(yes).toMatchObject({ code: 0, stdout: expect.stringMatching(/\d+\r\n/) })
    expect(no).toMatchObject({ code: 1, stdout: expect.stringContaining('the user said no') })
    expect(ann.unasked).toEqual([])
  })

  it('an input of a server is asked for, and the answer is for this command only', async () => {
    const inputs = [{ id: 'key', type: 'promptString', description: 'the key' }]
    const asks = { ...fixtureServer('whoami.mjs'), env: { WHO: '${input:key}' }, inputs }
    const house = residentHome({ asks })
    const ann = await house.connect('ann')
    const code = 'print((await mcp_asks.who())["who"] * 2)'
    const { stdout } = await inTerminal(house, [['Value: ', 'typed\r']], ['exec', '-c', code])
    expect(stdout).toContain('typedtyped')
    expect(await ann.run(code)).toContain('input')
    const again = await inTerminal(house, [['Value: ', 'other\r']], ['exec', '-c', code])
    expect(again.stdout).toContain('otherother')
  })

  it('top shows the sessions of the resident, and Ctrl-C ends it', async () => {
    const house = residentHome({ who: WHO })
    const ann = await house.connect('ann')
    await ann.run(PID)
    const { code, stdout } = await inTerminal(house, [['who: 1 call', '\u0003']], ['top'])
    expect(stdout).toContain('who: 1 call')
    expect(code).toBe(130)
    expect(house.residents().filter(isAlive)).toHaveLength(1)
  })
})

interface Now {
  pid: number
  sessions: { client: string; folder: string; cells: number }[]
  counts: Record<string, number>
  servers: Record<string, unknown>
}

describe.concurrent('top', () => {
  it('shows all clients of the resident in their folders, and nothing of one of other settings', async () => {
    const house = residentHome({ who: WHO })
    for (const name of ['ann', 'bob']) await (await house.connect(name)).run(PID)
    const other = { MCP_BRIDGE_TIMEOUT: '77' }
    await (await house.connect('carl', other)).run('1')
    const top = async (own?: Record<string, string>): Promise<Now[]> =>
      JSON.parse((await type(house, 'ann', ['top', '--json'], own && { own })).stdout) as Now[]
    const [now, ...more] = await top()
    expect(more).toEqual([])
    expect(now).toMatchObject({ counts: { cells: 2, calls: 2 }, servers: { who: { calls: 2, state: 'running' } } })
    expect(house.residents()).toContain(now!.pid)
    const folders = (one: Now): string[] => one.sessions.map(({ folder }) => path.basename(folder)).toSorted()
    expect(folders(now!)).toEqual(['ann', 'bob'])
    expect((await top(other)).map(folders)).toEqual([['carl']])
    const text = await type(house, 'ann', ['top'])
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^Resident \d+, version .*: 2 sessions, 2 cells, 2 calls\n/)
    expect(text.stdout).toMatch(/^ {2}session +\d+\.\d s +inspector-cli in .*\/bob: 1 cell$/m)
  })

  it('says so where there is no resident', async () => {
    const house = residentHome({})
    const none = await type(house, 'ann', ['top'])
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('No resident bridge') as string })
    expect(await type(house, 'ann', ['top', '--json'], { own: OFF })).toMatchObject({ code: 0, stdout: '[]\n' })
  })
})

describe.concurrent('approve', () => {
  it.each(['with the resident that asks', 'without one'])('answers a kept question %s', async (how) => {
    const house = residentHome({ who: WHO })
    writePermissions(house.home, { ask: ['who__*'] })
    const own = how === 'without one' ? OFF : {}
    const ann = await house.connect('ann', own)
    expect(await ann.run(PID)).toContain('sandbridge approve')
    const { stdout } = await type(house, 'ann', ['approve', '--json'], { own })
    const [{ id } = { id: '' }] = JSON.parse(stdout) as { id: string }[]
    const { stdout: said } = await type(house, 'ann', ['approve', id, '--answer', 'yes'], { own })
    expect(said).toContain('Answered: yes')
    expect(await ann.run(PID)).toMatch(/^\d+$/)
  })
})

describe('the end of', () => {
  const begun = async (
    { placeOf }: ResidentHome,
    words: string[],
  ): Promise<{ pid: number; over: Promise<number | string | null>; said: () => string }> => {
    const child = spawn(process.execPath, [CLI, ...words], { ...placeOf('ann'), stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const over = new Promise<number | string | null>((resolve) =>
      child.once('exit', (code, signal) => resolve(code ?? signal)),
    )
    await until(() => said.includes('begun'))
    return { pid: child.pid!, over, said: () => said }
  }
  const cells = async (house: ResidentHome): Promise<number> => {
    const { stdout } = await type(house, 'ann', ['top', '--json'])
    return (JSON.parse(stdout) as { runs: unknown[] }[]).reduce((sum, one) => sum + one.runs.length, 0)
  }

  let survivor: RelayClient | undefined
  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'a command by %s ends its cell and nothing else',
    async (signal) => {
      const house = await shared()
      const ann = (survivor ??= await house.connect('ann'))
      await ann.run('kept = 1')
      const { pid, over } = await begun(house, ['exec', '-c', LIVED])
      expect(await cells(house)).toBe(1)
      kill(pid, signal)
      expect(await over).toBe({ SIGINT: 130, SIGTERM: 143, SIGKILL: 'SIGKILL' }[signal])
      while ((await cells(house)) > 0) await sleep(50)
      expect(await ann.run('print(kept)')).toBe('1')
    },
  )

  it('a command whose output nobody reads comes with SIGTERM', async () => {
    const house = await shared()
    survivor ??= await house.connect('ann')
    const code = 'print("begun", flush=True)\nwhile True: print("x" * 1000)'
    const child = spawn(process.execPath, [CLI, 'exec', '-c', code], {
      ...house.placeOf('ann'),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const over = new Promise((resolve) => child.once('exit', resolve))
    await until(() => child.stdout.readableLength > 0)
    // Until it waits for its reader.
    await sleep(1_000)
    child.kill('SIGTERM')
    expect(await over).toBe(143)
  })

  it('a command ends its session', async () => {
    const house = await shared()
    const ann = (survivor ??= await house.connect('ann'))
    await ann.run('kept = 1')
    const sessions = async (): Promise<number> => {
      const { stdout } = await type(house, 'ann', ['top', '--json'])
      return (JSON.parse(stdout) as { sessions: unknown[] }[]).reduce((sum, one) => sum + one.sessions.length, 0)
    }
    const before = await sessions()
    const untilTold = 'import time\nprint("begun", flush=True)\nwhile not runtime.memory_exists("go"): time.sleep(0.1)'
    const { over } = await begun(house, ['exec', '-c', untilTold])
    expect(await sessions()).toBe(before + 1)
    await ann.run('runtime.save_memory("go", 1)')
    expect(await over).toBe(0)
    while ((await sessions()) > before) await sleep(50)
    expect(await ann.run('print(kept)')).toBe('1')
  })

  it('the resident is said, and does not run the code again', async () => {
    const house = residentHome({})
    await house.connect('ann')
    const { over, said } = await begun(house, ['exec', '-c', LIVED])
    kill(house.residents()[0]!, 'SIGKILL')
    expect(await over).toBe(1)
    expect(said()).toContain('may or may not have taken effect')
    expect(said().match(/begun/g)).toHaveLength(1)
  })

  it('log -f comes with Ctrl-C; until then it shows what happens', async () => {
    const house = residentHome({})
    const ann = await house.connect('ann')
    const { cwd, env } = house.placeOf('ann')
    const child = spawn(process.execPath, [CLI, 'log', '-f'], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const over = new Promise((resolve) => child.once('exit', resolve))
    await until(() => {
      void ann.run('1')
      return said.includes('run')
    })
    child.kill('SIGINT')
    expect(await over).toBe(130)
  })
})

it('a command runs by itself beside a resident that hangs', async () => {
  const house = residentHome({})
  const ann = await house.connect('ann')
  await ann.run('1')
  kill(house.residents()[0]!, 'SIGSTOP')
  expect(await type(house, 'ann', ['exec', '-c', '1 + 1'])).toMatchObject({ code: 0, stdout: '2\n' })
})

interface Page {
  (what: string, told?: object): Promise<Response>
}

/** The page that `sandbridge ui` opens in this client's folder. */
async function openPage(house: ResidentHome, name: string): Promise<Page> {
  const { code, stdout } = await type(house, name, ['ui', '--json'])
  expect(code).toBe(0)
  return enter((JSON.parse(stdout) as { link: string }).link)
}

async function enter(link: string): Promise<Page> {
  const entered = await fetch(link, { method: 'POST', headers: { origin: new URL(link).origin } })
  const headers = {
    cookie: entered.headers.get('set-cookie')!.split(';')[0]!,
    'x-sandbridge-key': /#key=([\w-]+)/.exec(await entered.text())![1]!,
  }
  return (what, told) => {
    const sent = told && { method: 'POST', body: JSON.stringify(told) }
    return fetch(new URL(`/ui/api/${what}`, link), { headers, ...sent })
  }
}

it('ui opens the page of the resident with the servers of its folder, and a page keeps it', async () => {
  const house = residentHome({ who: WHO }, { MCP_BRIDGE_SOURCES: '' })
  const ann = await house.connect('ann')
  await ann.run('1')
  const own = { mcpServers: { here: fixtureServer('whoami.mjs') } }
  writeFileSync(path.join(house.placeOf('bob').cwd, '.mcp.json'), JSON.stringify(own))
  const open = (name: string) => openPage(house, name)
  const servers = async (ask: (what: string) => Promise<Response>) => {
    const { servers: all, untrusted } = (await (await ask('servers')).json()) as Record<string, { name: string }[]>
    return { servers: all!.map(({ name }) => name), untrusted: untrusted!.map(({ name }) => name) }
  }
  expect(await servers(await open('ann'))).toEqual({ servers: ['who'], untrusted: [] })
  const page = await open('bob')
  expect(await servers(page)).toEqual({ servers: ['who'], untrusted: ['here'] })
  // The resident would end a second after its last client.
  const events = await page('events')
  ann.process.stdin!.end()
  await ann.exited
  await sleep(2_000)
  expect(house.residents().filter(isAlive)).toHaveLength(1)
  await events.body!.cancel()
  await until(() => house.residents().every((pid) => !isAlive(pid)))
})

/** What the page is told first. */
async function snapshot(page: Page): Promise<string> {
  const reader = (await page('events')).body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('\n\n')) text += (await reader.read()).value ?? ''
  await reader.cancel()
  return text
}

it('ui shows a cell that began before the page was opened, with what it has printed', async () => {
  const house = residentHome({ who: WHO }, { MCP_BRIDGE_TIMEOUT: '120' })
  const ann = await house.connect('ann')
  await ann.run('early = 1')
  const running = ann.run('print("an early word", flush=True)\nawait __import__("asyncio").sleep(120)')
  const cells = async (): Promise<string> => (await type(house, 'ann', ['top', '--json'])).stdout
  while (!(await cells()).includes('an early word')) await sleep(20)
  const page = await openPage(house, 'bob')
  const told = await snapshot(page)
  expect(told).toContain('an early word')
  expect(told).toContain('inspector-cli')
  const [, id] = /"id":"(\w+)","run":"[^{}]*"number":2,/.exec(told)!
  expect(await (await page('interrupt', { id })).json()).toEqual({ wasRunning: true })
  expect(await running).toMatch(/interrupt/i)
})

it('ui opens a page of its own where there is no resident, with what other bridges have recorded', async () => {
  const house = residentHome({}, OFF)
  const ann = await house.connect('ann')
  await ann.run('print("before")')
  const child = spawn(process.execPath, [CLI, 'ui', '--json'], {
    ...house.placeOf('bob'),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until(() => said.includes('\n'))
  const page = await enter((JSON.parse(said) as { link: string }).link)
  const runs = async () =>
    ((await (await page('record')).json()) as { runs: { client: string; status: string }[] }).runs
  while ((await runs()).length === 0) await sleep(50)
  expect(await runs()).toMatchObject([{ client: 'inspector-cli', status: 'ok' }])
  // It watches no other bridge.
  expect(await snapshot(page)).toContain('"sessions":[]')
})

describe('a cell of the page of a resident', () => {
  /** What a cell of the page says with an error. */
  async function says(page: Page, code: string, session?: string): Promise<string> {
    const { traceback } = (await (await page('notebook/run', { code, session })).json()) as { traceback?: string }
    return traceback?.trim().split('\n').at(-1) ?? ''
  }

  it('in the session of a client has the servers of that client, whichever folder the page shows', async () => {
    needsLinux('the page knows the session by what its sandbox uses, which is not measured elsewhere')
    const house = residentHome({ who: WHO })
    await house.connect('bob')
    const ann = await house.connect('ann')
    // What a model has left there runs with the next cell, whoever types it.
    await ann.run('async def left():\n    raise RuntimeError((await mcp_who.who())["who"])')
    const page = await openPage(house, 'bob')
    const sessions = JSON.stringify(await (await page('usage')).json())
    const session = /"session":"([^"]+)"/.exec(sessions)![1]!
    expect(await says(page, 'await left()', session)).toBe('RuntimeError: ann')
    // Control: the page's own session has those of its folder.
    expect(await says(page, 'raise RuntimeError((await mcp_who.who())["who"])')).toBe('RuntimeError: bob')
  })

  it('finds nothing that was left by one of another folder', async () => {
    const house = residentHome({ who: WHO })
    for (const name of ['ann', 'bob']) await (await house.connect(name)).run('1')
    expect(await says(await openPage(house, 'bob'), 'left = "bob"')).toBe('')
    expect(await says(await openPage(house, 'ann'), 'raise RuntimeError(left)')).toMatch(/^NameError/)
    expect(await says(await openPage(house, 'bob'), 'raise RuntimeError(left)')).toBe('RuntimeError: bob')
  })
})
