// @module-tag whole: a resident for each test; client-mixing.test.ts and top.test.ts have journeys
// Several clients of one resident bridge, through their relays: what each gets, and what becomes of them when one of
// the processes between them is killed, stopped or missing.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { findResidents } from '../src/ask-resident.ts'
import { atEnd, runsTogether } from '@sandbridge/core/test/support/suite/at-end.ts'
import { BUILT_CLI, CLI, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import {
  needsBubblewrap,
  needsLinux,
  needsPosix,
  needsProgram,
  skip,
} from '@sandbridge/core/test/support/suite/needs.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import {
  isAlive,
  kill,
  type RelayClient,
  residentHome,
  sharedResidentHome,
} from '@sandbridge/core/test/support/bridges/resident-clients.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

runsTogether()
beforeEach(() => needsPosix('residents of Windows have tests of their own: windows.test.ts'))

const WHO = { ...fixtureServer('whoami.mjs'), env: { WHO: '${WHO:-nobody}' } }
const STAYS = fixtureServer('whoami.mjs', 'stays')

const who = (client: RelayClient): Promise<string> => client.run('print((await mcp_who.who())["who"])')
/** What a client hears whose bridge cannot start: from its first call, and from the process once it has gone. */
const failureOf = async (client: RelayClient): Promise<string> => {
  await client.initialize()
  const told = await client.run('1')
  client.process.stdin!.end()
  expect(await client.exited).toBe(2)
  expect(client.said()).toContain(told.split('\n')[0])
  return told
}
const pidOf = async (client: RelayClient): Promise<number> =>
  Number(await client.run('print((await mcp_who.who())["pid"])'))

describe('clients of a resident', () => {
  const shared = sharedResidentHome({ who: WHO })

  it('that start at once get the same one', async () => {
    const { connect, residents } = residentHome({ who: WHO })
    const clients = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => connect(name)))
    expect(residents()).toHaveLength(1)
    for (const client of clients) expect(client.said()).toBe('')
  })

  it('share one although a desktop and a shell have another PATH, by which each starts its own servers', async () => {
    needsPosix('Windows starts no scripts of sh')
    const { connect, home, residents } = residentHome({ who: { ...WHO, command: 'my-node' } })
    const pathOf = (name: string): string => path.join(home, `${name}-bin`)
    for (const name of ['desktop', 'shell']) {
      mkdirSync(pathOf(name))
      const script = `#!/bin/sh\nexport WHO=${name}\nexec ${process.execPath} "$@"\n`
      writeFileSync(path.join(pathOf(name), 'my-node'), script, { mode: 0o755 })
    }
    const [desktop, shell, same] = [
      await connect('a', { PATH: `${pathOf('desktop')}:/usr/bin:/bin` }),
      await connect('a', { PATH: `/bin:${pathOf('shell')}:/usr/bin:/usr/games` }),
      await connect('a', { PATH: `${pathOf('desktop')}:/usr/bin:/bin` }),
    ]
    expect(await Promise.all([who(desktop), who(shell), who(same)])).toEqual(['desktop', 'shell', 'desktop'])
    expect(await pidOf(same)).toBe(await pidOf(desktop))
    expect(residents()).toHaveLength(1)
  })

  it('get another one where PATH leads to another engine', async () => {
    needsPosix('Windows starts no scripts of sh')
    const { connect, home, residents } = residentHome({ who: WHO })
    writeFileSync(path.join(home, 'podman'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    await connect('ann')
    await connect('bob', { PATH: `${home}:${process.env['PATH']}` })
    expect(residents()).toHaveLength(2)
  })

  it(
    'may be twenty at once, in folders, environments and homes of their own, each with its rules',
    { timeout: 300_000 },
    async () => {
      const houses = [residentHome({ who: WHO }), residentHome({ who: WHO })]
      const COUNT = 20
      const clients = await Promise.all(
        Array.from({ length: COUNT }, async (_, index) => {
          const { home, connect } = houses[index % 2]!
          const name = `client${index}`
          if (index % 4 === 3) {
            mkdirSync(path.join(home, name, '.sandbridge'), { recursive: true })
            const rules = JSON.stringify({ permissions: { deny: ['who__*'] } })
            writeFileSync(path.join(home, name, '.sandbridge/permissions.json'), rules)
          }
          return { index, name, home, client: await connect(name) }
        }),
      )
      // Twenty of the embedded sandboxes at once are more than some machines have memory for.
      for (let first = 0; first < COUNT; first += 5) {
        const wave = clients.slice(first, first + 5).map(async ({ index, name, home, client }) => {
          const said = await client.run(
            `print("mine" in globals())\nmine = 1\nseen = await mcp_who.who()\nprint(seen["who"], seen["cwd"])`,
          )
          if (index % 4 === 3) expect(said).toMatch(/^False\n[^]*(denied|not allowed|PERMISSION)/i)
          else expect(said).toBe(`False\n${name} ${path.join(home, name)}`)
          expect(client.unasked).toEqual([])
          client.process.stdin!.end()
          expect(await client.exited).toBe(0)
        })
        await Promise.all(wave)
      }
      for (const { residents } of houses) expect(residents()).toHaveLength(1)
    },
  )

  it('with other settings get another one', async () => {
    const { connect, residents } = residentHome({ who: WHO })
    await connect('ann')
    await connect('bob', { MCP_BRIDGE_TIMEOUT: '7' })
    expect(residents()).toHaveLength(2)
  })

  it('are asked only their own questions, and a question has an id that no other had', async () => {
    const { connect } = await shared()
    const ids: unknown[] = []
    for (const name of ['ann', 'bob']) {
      const client = await connect(name, {}, { elicitation: {} })
      const asked = client.run('print(await mcp_who.asks())')
      await until(() => client.unasked.some(({ method }) => method === 'elicitation/create'))
      const { id } = client.unasked.find(({ method }) => method === 'elicitation/create')!
      // An answer under the id that the package counts from, and under that of another client, answers nothing.
      for (const other of [0, ...ids])
        client.process.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: other, result: { action: 'decline' } })}\n`)
      client.process.stdin!.write(
        `${JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { yes: true } } })}\n`,
      )
      expect(await asked).toContain('accept')
      ids.push(id)
    }
    expect(new Set(ids).size).toBe(2)
  })

  it('are served although they have closed their input before a resident runs', async () => {
    const { start, residents } = residentHome({})
    const ann = start('ann')
    const answer = ann.ask('ping')
    ann.process.stdin!.end()
    expect(await answer).toMatchObject({ result: {} })
    expect(await ann.exited).toBe(0)
    expect(residents()).toHaveLength(1)
  })
})

it('a relay loads no bridge, no schemas and no MCP package', async () => {
  const { connect, home, residents } = residentHome({})
  const hook = path.join(home, 'loaded.cjs')
  const list = "require('fs').writeFileSync(__dirname + '/' + process.pid, Object.keys(require.cache).join(','))"
  writeFileSync(hook, `process.on('exit', () => { ${list} })`)
  const env = { NODE_OPTIONS: `--require ${hook}` }
  // The first starts the resident.
  await connect('first', env)
  const ann = await connect('ann', env)
  await ann.ask('tools/list')
  ann.process.stdin!.end()
  await ann.exited
  const loaded = (pid: number): string[] =>
    readFileSync(path.join(home, String(pid)), 'utf8')
      .split(',')
      .filter((file) => file.includes('/dist/'))
  const bytes = (files: readonly string[]): number => files.reduce((sum, file) => sum + statSync(file).size, 0)
  const own = loaded(ann.process.pid!)
  expect(own.length).toBeGreaterThan(1)
  // Of these, 12,000 are the entry point, which an old Node reads, too.
  expect(bytes(own)).toBeLessThan(126_000)
  // Control: the resident does load them.
  kill(residents()[0]!, 'SIGTERM')
  await until(() => !isAlive(residents()[0]!))
  expect(bytes(loaded(residents()[0]!))).toBeGreaterThan(1_000_000)
})

describe.concurrent('a resident', () => {
  it('ends some time after its last client, and leaves nothing', async () => {
    const { connect, residents, folder } = residentHome({ who: STAYS })
    const ann = await connect('ann')
    const server = await pidOf(ann)
    ann.process.stdin!.end()
    expect(await ann.exited).toBe(0)
    const [resident] = residents()
    await until(() => !isAlive(resident!))
    expect(readdirSync(folder).filter((name) => !name.endsWith('.log'))).toEqual([])
    expect(isAlive(server)).toBe(false)
  })

  it('ends without clients although its status is asked for all the time', async () => {
    const { connect, residents, home } = residentHome({})
    const ann = await connect('ann')
    ann.process.stdin!.end()
    expect(await ann.exited).toBe(0)
    const [resident] = residents()
    // Several at once, so that hardly a moment is without a question.
    const ask = async (): Promise<void> => {
      while (isAlive(resident!)) await findResidents(path.join(home, 'MCPs'))
    }
    await Promise.all([ask(), ask()])
    expect((await findResidents(path.join(home, 'MCPs'))).length).toBe(0)
  })

  it('that is killed: what it left is removed by the next of any settings, which leaves those that run', async () => {
    needsLinux('the start times of processes are known there')
    const { connect, folder, residents } = residentHome({ who: STAYS })
    const homes = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.d'))
    const ann = await connect('ann')
    const server = await pidOf(ann)
    const [killed] = residents()
    const [home] = homes()
    const bob = await connect('bob', { MCP_BRIDGE_TIMEOUT: '50' })
    await bob.run('x = 1')
    ann.process.kill('SIGKILL')
    kill(killed!, 'SIGKILL')
    await until(() => !isAlive(killed!))
    expect(homes()).toContain(home)
    expect(isAlive(server)).toBe(true)
    const cleo = await connect('cleo', { MCP_BRIDGE_TIMEOUT: '40' })
    await until(() => !homes().includes(home!) && !isAlive(server))
    expect(homes()).toHaveLength(2)
    expect(await cleo.run('print(1)')).toBe('1')
    expect(await bob.run('print(x)')).toBe('1')
  })

  it('that is killed: the open call is answered, and the client goes on with another', async () => {
    needsLinux('the start times of processes are known there')
    const { connect, residents } = residentHome({ who: STAYS })
    const [ann, bob] = await Promise.all([connect('ann'), connect('bob')])
    const server = await pidOf(ann)
    await ann.run('kept = 1')
    const open = ann.run('import time\nprint("began")\ntime.sleep(30)')
    await sleep(500)
    kill(residents()[0]!, 'SIGKILL')
    expect(await open).toMatch(/resident bridge ended while this code ran.*may or may not have taken effect/)
    expect(await ann.run('print("kept" in globals())')).toBe('False')
    expect(await bob.run('print(1)')).toBe('1')
    expect(residents()).toHaveLength(2)
    // It does not end at the end of its input: the next resident has ended it.
    expect(isAlive(server)).toBe(false)
  })

  it('that hangs loses its name, and ends when it wakes up', async () => {
    const { connect, residents } = residentHome({ who: WHO })
    const ann = await connect('ann')
    const [first] = residents()
    kill(first!, 'SIGSTOP')
    expect(await ann.run('print(1)')).toMatch(/resident bridge ended/)
    expect(await ann.run('print(2)')).toBe('2')
    expect(residents()).toHaveLength(2)
    expect(isAlive(first!)).toBe(true)
    kill(first!, 'SIGCONT')
    await until(() => !isAlive(first!))
    expect(await ann.run('print(3)')).toBe('3')
  })

  it('ends everything of a client whose relay was killed, and nothing of the others', async () => {
    const { connect } = residentHome({ who: { ...WHO, shared: false } as typeof WHO })
    const [ann, bob] = await Promise.all([connect('ann'), connect('bob')])
    const [server, other] = await Promise.all([pidOf(ann), pidOf(bob)])
    await bob.run('kept = 1')
    void ann.run('while True: pass')
    await new Promise((resolve) => setTimeout(resolve, 300))
    ann.process.kill('SIGKILL')
    await until(() => !isAlive(server))
    expect(await bob.run('print(kept)')).toBe('1')
    expect(await pidOf(bob)).toBe(other)
  })

  it('that was killed while nobody used it leaves no obstacle', async () => {
    const { connect, residents } = residentHome({}, { MCP_BRIDGE_RESIDENT: 'on idle=60' })
    const ann = await connect('ann')
    ann.process.stdin!.end()
    await ann.exited
    kill(residents()[0]!, 'SIGKILL')
    const clients = await Promise.all(['a', 'b', 'c', 'd'].map((name) => connect(name)))
    expect(await Promise.all(clients.map((client) => client.run('print(1)')))).toEqual(['1', '1', '1', '1'])
    expect(residents()).toHaveLength(2)
  })
})

describe.concurrent('answers that are kept', () => {
  const names = (client: RelayClient) =>
    client
      .ask('tools/list')
      .then(({ result }) => (result as { tools: { name: string }[] }).tools.map(({ name }) => name))

  /** A home in whose folder `ann` a client was served, with this environment, whose resident has ended. */
  async function knownHome(own: Record<string, string> = {}, env: Record<string, string> = {}) {
    const home = residentHome({ who: WHO }, env)
    // The first one reads the servers, the second is told of their tools, too.
    for (const kept of ['upstream-names', 'answers']) {
      rmSync(path.join(home.home, 'cache', kept), { recursive: true, force: true })
      const client = await home.connect('ann', own)
      await client.ask('tools/list')
      await until(() => readdirSync(path.join(home.home, 'cache')).includes(kept))
      client.process.stdin!.end()
      await client.exited
    }
    await until(() => home.residents().every((pid) => !isAlive(pid)))
    return home
  }

  it('reach a first client before its resident runs, once, and the client is then served as any other', async () => {
    const { connect, residents } = await knownHome()
    const before = residents().length
    const ann = await connect('ann')
    expect(await names(ann)).toEqual(['run_python'])
    expect(residents()).toHaveLength(before)
    expect(await who(ann)).toBe('ann')
    expect(residents()).toHaveLength(before + 1)
    expect(ann.unasked).toEqual([])
  })

  it('are not those of another folder or client', async () => {
    const { connect, residents } = await knownHome()
    const before = residents().length
    // Their handshakes are answered by the resident that the first of them has started.
    await connect('bob')
    expect(residents()).toHaveLength(before + 1)
    const ann = await connect('ann', {}, { elicitation: {} })
    expect(await names(ann)).toEqual(['run_python'])
  })

  it('do not outlive a change of what they are made of', async () => {
    const { connect, home, residents } = await knownHome()
    const before = residents().length
    writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { other: WHO } }))
    const ann = await connect('ann')
    expect(residents()).toHaveLength(before + 1)
    expect(JSON.stringify(ann.welcome)).toContain('Configured: other')
  })

  it('are not those of a client whose variables lead to other config files', async () => {
    const folder = newFolder()
    atEnd(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(path.join(folder, '.claude.json'), JSON.stringify({ mcpServers: { hidden: WHO } }))
    const own = { CLAUDE_CONFIG_DIR: folder }
    const { connect, residents } = await knownHome(own, { MCP_BRIDGE_SOURCES: 'mcps,claude-code' })
    const before = residents().length
    const same = await connect('ann', own)
    expect(JSON.stringify(same.welcome)).toContain('hidden')
    expect(residents()).toHaveLength(before)
    const other = await connect('ann')
    expect(JSON.stringify(other.welcome)).toContain('sandbridge')
    expect(JSON.stringify(other.welcome)).not.toContain('hidden')
  })

  it('are not read from a folder that others can write to', async () => {
    const { connect, home, residents } = await knownHome()
    const forge = (kept: string) => {
      const [name] = readdirSync(path.join(home, 'cache', kept))
      const file = path.join(home, 'cache', kept, name!)
      writeFileSync(file, readFileSync(file, 'utf8').replace(/Configured: \w+/g, 'Configured: forged'))
    }
    const welcome = async () => {
      const client = await connect('ann')
      client.process.stdin!.end()
      await client.exited
      await until(() => residents().every((pid) => !isAlive(pid)))
      return JSON.stringify(client.welcome)
    }
    for (const kept of ['answers', 'upstream-names']) {
      const folder = path.join(home, 'cache', kept)
      forge(kept)
      expect(await welcome(), kept).toContain('forged')
      forge(kept)
      chmodSync(folder, 0o777)
      expect(await welcome(), kept).not.toContain('forged')
      chmodSync(folder, 0o700)
    }
  })

  it('do not stop a client where a named pipe is in their place', async () => {
    needsPosix('named pipes are not files on Windows')
    const { connect, home } = await knownHome()
    for (const kept of ['answers', 'upstream-names']) {
      const folder = path.join(home, 'cache', kept)
      const file = path.join(folder, readdirSync(folder)[0]!)
      rmSync(file)
      execFileSync('mkfifo', [file])
      expect(await who(await connect('ann'))).toBe('ann')
    }
  })

  it('remove nothing behind a link', async () => {
    const { connect, home } = await knownHome()
    const answers = path.join(home, 'cache/answers')
    const others = path.join(home, 'others')
    mkdirSync(others)
    for (let i = 0; i < 120; i++) writeFileSync(path.join(others, `${i}.txt`), '')
    rmSync(answers, { recursive: true })
    symlinkSync(others, answers)
    const ann = await connect('ann')
    await names(ann)
    expect(await who(ann)).toBe('ann')
    expect(readdirSync(others)).toHaveLength(120)
  })

  it('of a client that no resident can serve are not given twice', async () => {
    const { connect, folder } = await knownHome()
    const [log] = readdirSync(folder).filter((name) => name.endsWith('.log'))
    const place = path.join(folder, log!.replace(/log$/, 'd'))
    mkdirSync(place, { mode: 0o700 })
    const full = createServer((socket) => socket.end('\u0001{"refused":"it is full"}\n'))
    atEnd(() => void full.close())
    await new Promise<void>((resolve) => full.listen(path.join(place, 's'), resolve))
    const ann = await connect('ann')
    expect(await names(ann)).toEqual(['run_python'])
    expect(await who(ann)).toBe('ann')
    expect(ann.said()).toContain('it is full')
    expect(ann.unasked).toEqual([])
    ann.process.stdin!.end()
    expect(await ann.exited).toBe(0)
  })

  it('hold nothing of the environment', async () => {
    const { home } = await knownHome()
    const folder = path.join(home, 'cache/answers')
    const [file] = readdirSync(folder)
    const text = readFileSync(path.join(folder, file!), 'utf8')
    expect(text).toContain('run_python')
    expect(text).not.toContain(process.env['PATH'])
    expect(statSync(path.join(folder, file!)).mode & 0o777).toBe(0o600)
  })
})

describe.concurrent('a start', () => {
  it('repairs a copy of the package that was damaged', async () => {
    const { connect, home, residents } = residentHome({ who: WHO }, {}, BUILT_CLI)
    const ann = await connect('ann')
    kill(residents()[0]!, 'SIGKILL')
    ann.process.kill('SIGKILL')
    const folder = path.join(home, 'MCPs/.sandbridge/package-copies')
    const copy = path.join(folder, readdirSync(folder)[0]!)
    const [main, kernel] = [
      path.join(copy, 'dist/main.js'),
      path.join(copy, 'packages/core/python/sandbridge_kernel/run/cell.py'),
    ]
    const whole = readFileSync(main)
    // Not in place: the files of the package may be the same ones.
    for (const file of [main, kernel]) rmSync(file)
    writeFileSync(main, whole.subarray(0, whole.length / 2))
    const bob = await connect('bob')
    expect(await bob.run('print((await mcp_who.who())["who"])')).toBe('bob')
    expect(bob.said()).toBe('')
    expect(readFileSync(`/proc/${residents().at(-1)}/cmdline`, 'utf8')).toContain(copy)
    expect([readFileSync(main), existsSync(kernel), readdirSync(folder).length]).toEqual([whole, true, 1])
  })

  it.each([
    ['a file has its name', 'd', (place: string) => writeFileSync(place, '')],
    ['a link has its name', 'd', (place: string, other: string) => symlinkSync(other, place)],
    ['a named pipe is in place of its log', 'log', (place: string) => execFileSync('mkfifo', [place])],
    ['a link is in place of its log', 'log', (place: string, other: string) => symlinkSync(`${other}/file`, place)],
  ])('goes on where %s, and changes nothing behind it', async (_, extension, plant) => {
    const { connect, home, folder, residents } = residentHome({ who: WHO })
    await connect('ann')
    await until(() => residents().length === 1)
    const [log] = readdirSync(folder).filter((name) => name.endsWith('.log'))
    kill(residents()[0]!, 'SIGKILL')
    const place = path.join(folder, log!.replace(/log$/, extension))
    const other = path.join(home, 'other')
    mkdirSync(other)
    writeFileSync(path.join(other, 'file'), 'kept')
    rmSync(place, { recursive: true })
    plant(place, other)
    const bob = await connect('bob')
    expect(await who(bob)).toBe('bob')
    expect(bob.said()).toBe('')
    expect(readFileSync(path.join(other, 'file'), 'utf8')).toBe('kept')
  })

  it('removes logs that nothing was written to for a month', async () => {
    const { connect, folder } = residentHome({})
    mkdirSync(path.dirname(folder), { recursive: true, mode: 0o700 })
    mkdirSync(folder, { mode: 0o700 })
    const monthBefore = new Date(Date.now() - 31 * 86_400_000)
    for (const name of ['old.log', 'old.log.1', 'new.log', 'old.txt']) {
      writeFileSync(path.join(folder, name), 'a line\n')
      if (name.startsWith('old')) utimesSync(path.join(folder, name), monthBefore, monthBefore)
    }
    await connect('ann')
    const left = readdirSync(folder).filter((name) => /^(?:old|new)/.test(name))
    expect(left.toSorted()).toEqual(['new.log', 'old.txt'])
  })
})

describe.concurrent('sandbridge status and stop', () => {
  it('name the clients of a resident and how they share servers, and end it after its cells', async () => {
    const shared = { ...fixtureServer('whoami.mjs'), cwd: '/' }
    const { connect, command, home, residents } = residentHome({ who: WHO, shared })
    expect(command('status')).toMatchObject({ code: 0, stderr: expect.stringContaining('No resident') as string })
    const [ann, bob] = await Promise.all([connect('ann'), connect('bob')])
    const use = 'await mcp_who.who()\nprint((await mcp_shared.who())["pid"])'
    expect(await ann.run(use)).toBe(await bob.run(use))
    const [one] = JSON.parse(command('status', '--json').stdout) as [{ pid: number; clients: { cwd: string }[] }]
    expect(one.pid).toBe(residents()[0])
    expect(one.clients.map(({ cwd }) => cwd).toSorted()).toEqual([path.join(home, 'ann'), path.join(home, 'bob')])
    expect(one.clients[0]).toMatchObject({
      servers: expect.arrayContaining([
        { server: 'shared', state: 'running', clients: 2, process: expect.any(Number) as number },
        {
          server: 'who',
          state: 'running',
          clients: 1,
          process: expect.any(Number) as number,
          reason: expect.stringContaining('folder') as string,
        },
      ]) as unknown,
    })
    expect(command('status').stdout).toContain('shared: running, shared by 2 clients')
    const { stdout } = command('servers')
    expect(stdout).toMatch(/^ {2}shared +running +2 clients: \d+ in \S+, \d+ in \S+$/m)
    expect(
      stdout.match(/^ {2}who +running +1 client: \d+ in \S+ +it starts in the folder of its client/gm),
    ).toHaveLength(2)
    const open = ann.run('import time\ntime.sleep(2)\nprint("whole")')
    await sleep(500)
    expect(command('stop')).toMatchObject({
      code: 0,
      stdout:
        '1 resident bridge will end after the cells that run. Clients that are connected go on in new sessions.\n',
    })
    // The cell of one client ends first; both go on with another resident.
    expect(await open).toBe('whole')
    await until(() => !isAlive(one.pid))
    expect(await bob.run('print(2)')).toBe('2')
  })

  it('a call that comes after `stop` is made by the next resident, also of a client whose cell runs', async () => {
    const { connect, command, residents } = residentHome({})
    const [ann, bob] = await Promise.all([connect('ann'), connect('bob')])
    for (const one of [ann, bob]) await one.run('kept = 1')
    const open = ann.run('import time\ntime.sleep(4)\nprint("whole", kept)')
    await sleep(500)
    expect(command('stop').code).toBe(0)
    const isKept = 'print("kept" in globals())'
    const later = [ann.run(isKept), ann.run(isKept), bob.run(isKept)]
    expect(await open).toBe('whole 1')
    expect(await Promise.all(later)).toEqual(['False', 'False', 'False'])
    expect(residents()).toHaveLength(2)
  })

  it('the result of a task can be fetched from a resident that `stop` has told to end', async () => {
    const { connect, command, residents } = residentHome({})
    const ann = await connect('ann')
    const args = { name: 'run_python', arguments: { code: 'import time\ntime.sleep(3)\nprint("whole")' } }
    const { result } = (await ann.ask('tools/call', { ...args, task: {} })) as { result: { task: { taskId: string } } }
    const { taskId } = result.task
    expect(command('stop').code).toBe(0)
    await until(async () => JSON.stringify(await ann.ask('tasks/get', { taskId })).includes('"completed"'))
    // A resident that ends looks several times meanwhile whether it may.
    await sleep(500)
    expect(JSON.stringify(await ann.ask('tasks/result', { taskId }))).toContain('whole')
    await until(() => residents().every((pid) => !isAlive(pid)))
  })

  it('a cell that waited for its turn when `stop` came has all of its time', async () => {
    const { connect, command } = residentHome({}, { MCP_BRIDGE_MAX_TIMEOUT: '5', MCP_BRIDGE_TIMEOUT: '5' })
    const ann = await connect('ann')
    await ann.run('import asyncio')
    const both = [1, 2].map((count) => ann.run(`await asyncio.sleep(4)\nprint("whole", ${count})`))
    await sleep(500)
    expect(command('stop').code).toBe(0)
    expect(await Promise.all(both)).toEqual(['whole 1', 'whole 2'])
  })
})

describe.concurrent('without a setting', () => {
  const DEFAULT = { MCP_BRIDGE_RESIDENT: 'idle=1' }
  const settingsOf = (home: string, text: string): void => writeFileSync(path.join(home, 'MCPs/settings.json'), text)
  /** Only there do clients share one by default. */
  const outsideOfContainers = (servers: Parameters<typeof residentHome>[0]): ReturnType<typeof residentHome> => {
    const home = residentHome(servers, DEFAULT)
    if (/a sandbox or a container/.test(home.command('status').stderr)) skip('this is a sandbox or a container')
    return home
  }

  it('clients share a resident, where none is forbidden', async () => {
    const { connect, residents, command } = outsideOfContainers({ who: WHO })
    expect(command('status').stderr).toContain('The next client starts one.')
    const [ann, bob] = await Promise.all([connect('ann'), connect('bob')])
    expect(await Promise.all([who(ann), who(bob)])).toEqual(['ann', 'bob'])
    expect(residents()).toHaveLength(1)
  })

  it('settings.json switches it off, and a variable outranks that', async () => {
    const { connect, residents, home, command } = outsideOfContainers({ who: WHO })
    settingsOf(home, '// No process.\n{ "resident": { "mode": "off" }, "registries": { "addresses": ["off"] } }')
    expect(command('status').stderr).toContain('settings.json says so')
    expect(await who(await connect('ann'))).toBe('ann')
    expect(residents()).toEqual([])
    expect(await who(await connect('bob', { MCP_BRIDGE_RESIDENT: 'on idle=1' }))).toBe('bob')
    expect(residents()).toHaveLength(1)
  })

  it('what settings.json switches off ends with `stop`, and connected clients go on without it', async () => {
    const { connect, residents, home, command } = outsideOfContainers({ who: WHO })
    const [ann, bob] = await Promise.all([connect('ann'), connect('bob')])
    expect(await ann.run('kept = 1\nprint(kept)')).toBe('1')
    const [resident] = residents()
    settingsOf(home, '{ "resident": { "mode": "off" } }')
    // Nothing ends by itself.
    expect(await ann.run('print(kept)')).toMatch(/^1\n.*resident\.mode has changed/)
    // Half a message is not lost.
    const call = `{"jsonrpc":"2.0","id":"half","method":"tools/list","params":{}}\n`
    bob.process.stdin!.write(call.slice(0, 20))
    expect(command('stop').code).toBe(0)
    await until(() => !isAlive(resident!) && [ann, bob].every((one) => one.said().includes('its own bridge')))
    bob.process.stdin!.write(call.slice(20))
    expect(await ann.run('print("kept" in globals())')).toBe('False')
    expect(await Promise.all([who(ann), who(bob)])).toEqual(['ann', 'bob'])
    await until(() => bob.unasked.length > 0)
    // One greeting each, and no answer twice.
    expect(bob.unasked).toMatchObject([{ id: 'half', result: { tools: [{ name: 'run_python' }] } }])
    expect([ann.unasked, residents()]).toEqual([[], [resident]])
    expect(ann.said()).toContain('settings.json switches it off')
    ann.process.stdin!.end()
    expect(await ann.exited).toBe(0)
  })

  it('each client is told of its own variables that are misspelt', async () => {
    const { connect, residents, placeOf } = residentHome({})
    const own = { MCP_BRIDGE_TIMOUT: '5' }
    // The resident is started with this level, which is for this client alone.
    const quiet = await connect('ann', { ...own, MCP_BRIDGE_LOG_LEVEL: 'error' })
    const bob = await connect('bob', own)
    const told = /MCP_BRIDGE_TIMOUT.*MCP_BRIDGE_TIMEOUT/
    await until(() => told.test(bob.said()))
    expect(residents()).toHaveLength(1)
    expect(quiet.said()).toBe('')
    const typed = spawnSync(process.execPath, [CLI, 'exec', '-c', '1'], { ...placeOf('bob', own), encoding: 'utf8' })
    expect(typed.stdout).toBe('1\n')
    expect(typed.stderr).toMatch(told)
    const cyd = await connect('cyd')
    expect([await cyd.run('print(1)'), cyd.said()]).toEqual(['1', ''])
  })

  it('a client that comes after a change of settings.json has the new settings', async () => {
    const { connect, residents, home, command } = residentHome({})
    const code = 'print("joe@" + "example.com")'
    const ann = await connect('ann')
    // Control.
    expect(await ann.run(code)).toBe('joe@example.com')
    settingsOf(home, '{ "sandbox": { "mask": ["email"] } }')
    const bob = await connect('bob')
    expect(await bob.run(code)).toBe('[EMAIL_1]')
    expect(bob.said()).toContain('settings have changed since it started')
    expect(residents()).toHaveLength(1)
    // What only a running bridge follows changes nothing here.
    settingsOf(home, '{ "permissions": { "preset": "careful" } }')
    const cyd = await connect('cyd')
    expect([await cyd.run(code), cyd.said()]).toEqual(['joe@example.com', ''])
    expect(command('status').stdout.match(/client \d+/g)).toHaveLength(2)
  })

  it('a variable decides which servers a cell has, also when settings.json changes', async () => {
    const { connect, home } = residentHome({ who: WHO })
    settingsOf(home, '{ "cells": { "compat": true } }')
    const [ann, bob] = [await connect('ann', { MCP_BRIDGE_COMPAT: '1' }), await connect('bob')]
    const code = 'await mcp_who.who()'
    const refused = /ServerNotFound/
    expect(await ann.run(code)).toMatch(refused)
    expect(await bob.run(code)).toMatch(refused)
    settingsOf(home, '{ "cells": { "compat": false } }')
    expect(await ann.run(code)).toMatch(refused)
    // Control.
    expect(await bob.run(code)).not.toMatch(refused)
  })

  it.each([
    ['MCPs/permissions.json', '{"permissions": {"deny": 1}}'],
    ['ann/.sandbridge/permissions.json', '{"permissions": {"deny": 1}}'],
    ['MCPs/settings.json', '{"sandbox": {"mask": ["emial"]}}'],
  ])('a mistake in %s is over once it is corrected, before the first cell and later', async (name, mistake) => {
    const { connect, home } = residentHome({ who: WHO }, DEFAULT)
    const ann = await connect('ann')
    const file = path.join(home, name)
    for (const when of ['before the first cell', 'later']) {
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, mistake)
      expect(await ann.run('1 + 1'), when).toContain(path.basename(file))
      writeFileSync(file, '{}')
      expect(await ann.run('1 + 1'), when).toBe('2')
    }
    const bob = await connect('bob')
    expect(await bob.run('1 + 1')).toBe('2')
  })

  it('a mistake in settings.json is told as without a resident', async () => {
    const { start, home } = residentHome({ who: WHO }, DEFAULT)
    settingsOf(home, '{ "resident": { "mode": "of" } }')
    expect(await failureOf(start('ann'))).toMatch(/settings\.json.*resident\.mode/)
    settingsOf(home, '{}')
    const bob = start('bob')
    await bob.initialize()
    settingsOf(home, '{ "sandbox": { "mask": ["emial"] } }')
    expect(await failureOf(start('cyd'))).toMatch(/settings\.json.*mask/)
  })

  it('a client without the right to gain privileges, as in a sandbox, has its own bridge', async () => {
    needsLinux('another system has no such flag')
    needsProgram('setpriv')
    const { placeOf, residents } = outsideOfContainers({})
    const run = (...before: string[]): string[] =>
      spawnSync('/usr/bin/env', [...before, process.execPath, CLI, 'run'], { ...placeOf('ann'), input: '' })
        .stderr.toString()
        .split('\n')
    expect(run('setpriv', '--no-new-privs')).toEqual([''])
    expect(residents()).toEqual([])
    run()
    await until(() => residents().length === 1)
  })

  it('commands start no resident, and make no folder for one', () => {
    const { command, folder } = residentHome({}, DEFAULT)
    expect(command('exec', '-c', '6 * 7').stdout).toBe('42\n')
    expect(command('servers').code).toBe(0)
    expect(existsSync(folder)).toBe(false)
  })
})

describe.concurrent('run serves its client itself', () => {
  it('in CI', async () => {
    const { connect, residents } = residentHome({ who: WHO })
    const ann = await connect('ann', { CI: 'true' })
    expect(await who(ann)).toBe('ann')
    expect(residents()).toEqual([])
  })

  it.each([
    ['others can write to', (folder: string) => (mkdirSync(folder, { recursive: true }), chmodSync(folder, 0o777))],
    ['is a link', (folder: string) => (mkdirSync(path.dirname(folder)), symlinkSync('/tmp', folder))],
    ['is a file', (folder: string) => (mkdirSync(path.dirname(folder)), writeFileSync(folder, ''))],
  ])('where the folder for residents %s, and says so', async (_, prepare) => {
    const { connect, residents, folder } = residentHome({ who: WHO })
    prepare(folder)
    const ann = await connect('ann')
    expect(await who(ann)).toBe('ann')
    expect(ann.said()).toMatch(/resident bridge cannot be used: .*\. This client gets its own bridge/)
    expect(residents()).toEqual([])
  })

  /** A program that starts `run` where a filter of system calls answers `socket`, as that of a hardened service. */
  const underFilter = (answer: number): string => {
    const folder = newFolder()
    atEnd(() => rmSync(folder, { recursive: true, force: true }))
    const socket = process.arch === 'arm64' ? 198 : 41
    // Load the number of the call; if it is `socket`, answer so; otherwise allow it. linux/bpf_common.h
    const steps = [
      [0x20, 0, 0, 0],
      [0x15, 0, 1, socket],
      [0x06, 0, 0, answer],
      [0x06, 0, 0, ALLOW],
    ] as const
    const filter = Buffer.alloc(steps.length * 8)
    for (const [at, [code, yes, no, value]] of steps.entries()) {
      filter.writeUInt16LE(code, at * 8)
      filter.set([yes, no], at * 8 + 2)
      filter.writeUInt32LE(value, at * 8 + 4)
    }
    const [bytes, script] = [path.join(folder, 'filter'), path.join(folder, 'run.cjs')]
    writeFileSync(bytes, filter)
    const args = ['--dev-bind', '/', '/', '--die-with-parent', '--seccomp', '3', process.execPath, CLI, 'run']
    writeFileSync(
      script,
      `const stdio = ['inherit', 'inherit', 'inherit', require('fs').openSync(${JSON.stringify(bytes)})]
      const child = require('child_process').spawn('bwrap', ${JSON.stringify(args)}, { stdio })
      child.on('exit', (code) => process.exit(code ?? 1))`,
    )
    return script
  }
  const ALLOW = 0x7fff0000
  const EPERM = 0x00050001
  const EAFNOSUPPORT = 0x00050061

  it.each([
    ['where sockets are forbidden, and says so', EPERM, 0],
    ['where there are no sockets of this kind, and says so', EAFNOSUPPORT, 0],
    ['only there: control', ALLOW, 1],
  ])('%s', async (_, answer, count) => {
    needsLinux('other systems have no such filters')
    needsBubblewrap()
    // bubblewrap could not make its network here.
    const env = { MCP_BRIDGE_RUNTIME: 'pyodide' }
    const { connect, residents } = residentHome({ who: WHO }, env, underFilter(answer))
    const ann = await connect('ann')
    expect(await who(ann)).toBe('ann')
    expect(residents()).toHaveLength(count)
    const why =
      /^sandbridge: The resident bridge cannot be used: .*(?:EPERM|EAFNOSUPPORT).*\. This client gets its own bridge\.$/m
    expect(why.test(ann.said())).toBe(count === 0)
  })

  it('where its resident was killed and no other can start', async () => {
    const { connect, residents, folder } = residentHome({ who: WHO })
    const ann = await connect('ann')
    const open = ann.run('import time\ntime.sleep(60)')
    await until(() => residents().length === 1)
    const [resident] = residents()
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')
    kill(resident!, 'SIGKILL')
    expect(await open).toContain('may or may not have taken effect')
    expect(await who(ann)).toBe('ann')
    expect(ann.said()).toMatch(/resident bridge cannot be used: .*\. This client gets its own bridge/)
    expect(ann.unasked).toEqual([])
  })

  it('where a resident fails at its start, at once, and reports why', async () => {
    const { start } = residentHome({})
    const ann = start('ann', { MCP_BRIDGE_OUTPUT_MODE: 'loud' })
    // Not what is said after the time that a resident may take to start.
    expect(await failureOf(ann)).toMatch(/^MCP_BRIDGE_OUTPUT_MODE/)
    expect(ann.said()).toMatch(/^sandbridge: MCP_BRIDGE_OUTPUT_MODE/)
  })

  it('and reports a mistake in its own setting, also to a client that has closed its input', async () => {
    const { start } = residentHome({})
    const wrong = { MCP_BRIDGE_RESIDENT: 'on idel=5' }
    expect(await failureOf(start('ann', wrong))).toMatch(/^MCP_BRIDGE_RESIDENT: .*idel/)
    const closed = start('ann', wrong)
    closed.process.stdin!.end()
    expect(await closed.exited).toBe(2)
    expect(closed.said()).toMatch(/^sandbridge: MCP_BRIDGE_RESIDENT: .*idel/)
  })

  it('and reports invalid rules as without a resident', async () => {
    const { start, home } = residentHome({ who: WHO })
    writeFileSync(path.join(home, 'MCPs/permissions.json'), '{"permissions": {"deny": 1}}')
    const [with_, without] = [start('ann'), start('ann', { MCP_BRIDGE_RESIDENT: 'off' })]
    for (const { process: one } of [with_, without]) one.stdin!.end()
    const codes = await Promise.all([with_.exited, without.exited])
    expect(codes[0]).toBe(codes[1])
    expect(codes[0]).not.toBe(0)
    expect(with_.said()).toContain(without.said())
    // One that has said something, and says more later, is not left waiting.
    expect(await failureOf(start('ann'))).toContain('permissions.json:1:18')
  })
})
