// This file verifies the process from which bubblewrap sandboxes are forked: how many are, what they share, and what
// happens when it ends or cannot fork.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { describeExit } from '../../../core/src/cell/kernel/channel.ts'
import { type BubblewrapOptions, BubblewrapProvider } from '../../src/provider.ts'
import { bubblewrapArguments, systemCallFilter } from '../../src/bubblewrap.ts'
import { findHostSystem } from '../../src/find-system.ts'
import { ForkServer } from '../../src/fork-server.ts'
import { forkServerArguments, loadNativeKernel } from '@sandbridge/native/native-kernel.ts'
import { attachCells, type CellRunner, startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { providerOrSkip, type TestedProvider } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { refusingBubblewrap } from '@sandbridge/core/test/support/sandboxes/refusing-bwrap.ts'
import { descendants, runningProcesses, until } from '@sandbridge/core/test/support/machine/processes.ts'
import { needsRoot, skip } from '@sandbridge/core/test/support/suite/needs.ts'

const HOLD_SANDBOX = path.join(import.meta.dirname, '../../../core/test/fixtures/sandboxes/hold-sandbox.ts')

async function forkingProvider({
  needs = 'bubblewrap-fork',
  ...options
}: Partial<BubblewrapOptions> & { needs?: TestedProvider } = {}) {
  await providerOrSkip(needs)
  const before = new Set(forkServers().map(({ pid }) => pid))
  const notForked: string[] = []
  const onNotForked = (reason: string) => void notForked.push(reason)
  const provider = new BubblewrapProvider({ pidsCount: 128, forks: true, onNotForked, ...options })
  await provider.prepare()
  /** Fork servers that were started for this provider. */
  const servers = () => forkServers().filter(({ pid }) => !before.has(pid))
  return { provider, notForked, servers }
}

/** Processes of this test that fork sandboxes: the children of bubblewrap. */
function forkServers() {
  const own = descendants(process.pid).filter(({ command }) => command.includes('-forks slots='))
  return own.filter(({ parent }) => own.some(({ pid }) => pid === parent))
}

const hashSeen = (cells: CellRunner) => cells.evaluate<number>("hash('a text')")

it('the fork server is replaced after a number of sandboxes, which go on; the next ones share no hash seed with them', async () => {
  const { provider, notForked } = await forkingProvider({ forksEach: 2 })
  const first = await startCells(provider)
  await first.run('x = 5')
  const others = [await startCells(provider), await startCells(provider), await startCells(provider)]
  const hashes = await Promise.all([first, ...others].map(hashSeen))
  expect(hashes[0]).toBe(hashes[1])
  expect(hashes[2]).toBe(hashes[3])
  expect(hashes[0]).not.toBe(hashes[2])
  expect((await first.run('x')).value).toBe('5')
  expect(notForked).toEqual([])
  expect(provider.startMethod).toBe('forked from one process')
})

it('the fork server is started before the first sandbox is asked for', async () => {
  const { provider, servers } = await forkingProvider()
  await until(() => servers().length > 0)
  const [ahead] = servers()
  const cells = await startCells(provider)
  // Where memory runs out, the system ends the sandbox rather than the bridge.
  expect((await cells.run("int(open('/proc/self/oom_score_adj').read())")).value).toBe('1000')
  expect(servers().map(({ pid }) => pid)).toEqual([ahead!.pid])
})

it('the fork server ends when it can fork no more and its last sandbox has ended', async () => {
  const { provider, servers } = await forkingProvider({ forksEach: 2 })
  const two = [await startCells(provider), await startCells(provider)]
  const [first] = servers()
  expect(first).toBeDefined()
  const isThere = () => forkServers().some(({ pid }) => pid === first!.pid)
  await two[0]!.kernel.dispose()
  expect((await two[1]!.run('1 + 1')).value).toBe('2')
  expect(isThere()).toBe(true)
  await two[1]!.kernel.dispose()
  await until(() => !isThere())
})

it('the fork server takes its sandboxes with it when it is killed, they say so, and another one forks the next', async () => {
  const { provider, notForked, servers } = await forkingProvider()
  const cells = await startCells(provider)
  const running = cells.run("print('looping', flush=True)\nwhile True: pass")
  await cells.printed('looping')
  const [server] = servers()
  process.kill(server!.pid, 'SIGKILL')
  const { exit } = await running
  expect(describeExit(exit!)).toBe('it was killed by SIGKILL, perhaps because memory ran out')
  expect(exit?.detail).toContain('The process that it was forked from has ended')
  await until(() => !runningProcesses().some(({ command }) => command.includes(`id=${cells.kernel.sandbox.id} `)))
  expect((await (await startCells(provider)).run('1 + 1')).value).toBe('2')
  expect(notForked).toEqual([])
})

it('the fork server names each sandbox in the list of processes, and lets none see the name of another', async () => {
  const { provider } = await forkingProvider()
  const [one, other] = [await startCells(provider), await startCells(provider)]
  const { id } = one.kernel.sandbox
  expect(runningProcesses().filter(({ command }) => command.includes(`id=${id} `))).toHaveLength(2)
  const seen = await other.evaluate<string[]>(
    "[open(f'/proc/{pid}/cmdline').read() for pid in __import__('os').listdir('/proc') if pid.isdigit()]",
  )
  expect(seen).toHaveLength(2)
  expect(seen.join()).not.toContain(id)
})

it('the fork server works for an ordinary user, and ends with the bridge', async () => {
  await providerOrSkip('bubblewrap-fork')
  needsRoot('the other tests are run by an ordinary user already')
  const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups', 'env', 'HOME=/tmp']
  if (spawnSync('setpriv', [...asNobody, 'test', '-r', HOLD_SANDBOX]).status !== 0)
    skip('another user cannot read this checkout')
  const command = [...asNobody, process.execPath, '--import', 'tsx', HOLD_SANDBOX, 'bubblewrap-fork']
  const bridge = spawn('setpriv', command, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void bridge.kill('SIGKILL'))
  const [text] = (await once(bridge.stdout, 'data')) as [Buffer]
  const id = text.toString().trim()
  const inside = () => runningProcesses().filter(({ command: words }) => words.includes(`id=${id} `))
  expect(inside()).toHaveLength(2)
  bridge.kill('SIGKILL')
  await until(() => inside().length === 0)
})

it('a forked sandbox waits for its first process to be in place before it has a kernel', async () => {
  await providerOrSkip('bubblewrap-fork')
  const { found } = await findHostSystem()
  const { bubblewrap, system } = found!
  const kernel = loadNativeKernel()
  const args = forkServerArguments({ id: 'test-forks', slotCount: 1 })
  const walls = bubblewrapArguments(system, { environment: system.environment, forks: true })
  const server = new ForkServer({
    command: bubblewrap.command,
    args: [...bubblewrap.before, ...walls, '--', system.python, ...args],
    preamble: () => kernel.forkServerPreamble({ compiled: undefined, filter: systemCallFilter() }),
    slotCount: 1,
  })
  const id = `test-${process.pid}-enter`
  const inside = () => runningProcesses().filter(({ command }) => command.includes(`id=${id} `))
  let entered: { pid: number; there: number[] } | undefined
  const sandbox = await server.start({
    id,
    words: 'memoryBytes=268435456 pids=64 folders=/dev/shm:64,/tmp:64,/workspace:128',
    explain: () => ({ reason: 'exited', detail: '' }),
    enter: async (pid) => void (entered = { pid, there: inside().map((one) => one.pid) }),
  })
  const cells = await attachCells(sandbox)
  expect(entered?.there).toEqual([entered?.pid])
  expect(inside().map(({ pid }) => pid)).toContain(entered?.pid)
  expect(inside()).toHaveLength(2)
  expect((await cells.run('1 + 1')).value).toBe('2')
})

it('each sandbox has a Python of its own where none can be forked, and the reason is reported once', async () => {
  vi.stubEnv('PATH', `${refusingBubblewrap()}:${process.env['PATH']}`)
  const { provider, notForked } = await forkingProvider({ needs: 'bubblewrap' })
  for (let count = 0; count < 2; count += 1) expect((await (await startCells(provider)).run('1 + 1')).value).toBe('2')
  expect(notForked).toEqual([expect.stringMatching(/^unshare: /)])
  expect(provider.startMethod).toMatch(/^each started with its own Python, because none could be forked: unshare: /)
})
