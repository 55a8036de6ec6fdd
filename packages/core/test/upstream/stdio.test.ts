import { execFile } from 'node:child_process'
import { readFile, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished, vi } from 'vitest'
import { shellWord } from '../../src/config/secrets/command-line.ts'
import { isAlive, open, program, raw, textOf, until } from './support.ts'
import { newFolder } from '../support/machine/new-folder.ts'

const RAW = join(import.meta.dirname, '../fixtures/servers/raw.mjs')

async function temporaryFile(): Promise<string> {
  const folder = newFolder()
  return join(folder, 'file')
}

const lines = async (file: string): Promise<string[]> =>
  (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean)

it('a server is not started before it is needed, and concurrent first uses start one process', async () => {
  const upstreams = open([raw('good')])
  expect(upstreams.of('good').state).toBe('not-started')
  const calls = Array.from({ length: 20 }, () => upstreams.callTool('good', 'pid', {}))
  const listing = upstreams.listTools('good')
  await until(() => upstreams.of('good').state === 'starting')
  const pids = new Set((await Promise.all(calls)).map(textOf))
  expect(pids.size).toBe(1)
  expect((await listing).map((tool) => tool.name)).toEqual(['echo', 'pid'])
  expect(upstreams.of('good').state).toBe('running')
  expect(upstreams.of('good').instructions).toBe('mode good')
})

it("a server gets its own environment and a few harmless variables, and not the bridge's", async () => {
  vi.stubEnv('SANDBRIDGE_TEST_SECRET', 'hunter2')
  const definition = raw('good')
  Object.assign(definition.transport, { env: { MINE: 'yes' } })
  const upstreams = open([definition])
  const env = JSON.parse(textOf(await upstreams.callTool('good', 'env', {})))
  expect(env).toMatchObject({ MINE: 'yes', PATH: expect.stringContaining(dirname(process.execPath)) })
  expect(env).not.toHaveProperty('SANDBRIDGE_TEST_SECRET')
})

it('a server runs in the folder of its definition, and otherwise in that of the bridge', async () => {
  const [own, common] = [await realpath(tmpdir()), await realpath(import.meta.dirname)]
  const definition = { ...raw('good'), name: 'own' }
  definition.transport = { ...definition.transport, cwd: own } as typeof definition.transport
  const upstreams = open([definition, raw('good')], { cwd: common })
  expect(textOf(await upstreams.callTool('own', 'cwd', {}))).toBe(own)
  expect(textOf(await upstreams.callTool('good', 'cwd', {}))).toBe(common)
})

it('a server that exits is reported with its last stderr output, without its secrets', async () => {
  const definition = raw('exit', '--password=s3cr3t')
  Object.assign(definition.transport, { env: { TOKEN: 'hunter22' } })
  const upstreams = open([definition])
  const error = await upstreams.listTools('exit').catch((reason: unknown) => reason)
  expect(error).toMatchObject({
    code: 'UPSTREAM_UNREACHABLE',
    message:
      `Server 'exit' could not be started: \`${shellWord(process.execPath)} ${shellWord(RAW)} exit --password=[redacted]\` exited with code 3. ` +
      'Last output: fatal: cannot log in with [redacted] (args --password=[redacted])',
    userHint: 'Read its full output with `sandbridge servers exit --log`.',
    log: 'fatal: cannot log in with [redacted] (args --password=[redacted])',
  })
  expect(upstreams.of('exit').state).toBe('failed')
  expect(JSON.stringify([error, upstreams.logged])).not.toMatch(/hunter22|s3cr3t/)
})

it('a server that closes its input before it exits is reported like one that exits', async () => {
  await expect(open([raw('deaf-then-exit')]).listTools('deaf-then-exit')).rejects.toThrow(
    'deaf-then-exit` exited with code 5. Last output: cannot hear',
  )
})

it('the stdout of a server that exits is quoted when its stderr is empty', async () => {
  const upstreams = open([raw('exit-words-on-stdout')])
  await expect(upstreams.callTool('exit-words-on-stdout', 'x', {})).rejects.toThrow('Last output: Error: no license')
})

it('a server that never answers is given up on, and its process is ended', async () => {
  const upstreams = open([raw('hang')], { startTimeoutMs: 3_000 })
  await expect(upstreams.listTools('hang')).rejects.toMatchObject({
    code: 'UPSTREAM_TIMEOUT',
    message: "Server 'hang' did not complete its start within 3 s. Last output: loading a very large model",
  })
  expect(upstreams.of('hang').state).toBe('failed')
})

it.each([
  ['a program that does not exist', { command: '/no/such/program' }, 'the command `/no/such/program` was not found'],
  [
    'a file that is no program',
    { command: import.meta.dirname },
    `the command \`${shellWord(import.meta.dirname)}\` ${process.platform === 'win32' ? 'was not found' : 'may not be executed'}`,
  ],
  [
    'a directory that does not exist',
    { cwd: '/no/such/place' },
    'its working directory does not exist: /no/such/place',
  ],
  [
    'a directory that is none',
    { cwd: import.meta.filename },
    `its working directory may not be entered: ${import.meta.filename}`,
  ],
  [
    'a character that no argument can have',
    { args: ['a\0b'] },
    'its definition has a character that is not allowed in a command',
  ],
])('a start that fails because of %s names it, and where to correct it', async (_what, change, reason) => {
  const definition = raw('good')
  Object.assign(definition.transport, change)
  const error = await open([definition])
    .listTools('good')
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    code: 'UPSTREAM_UNREACHABLE',
    message: `Server 'good' could not be started: ${reason}.`,
    userHint: expect.stringMatching(/test\.json$/),
  })
})

it('a program that is not an MCP server is given up on', async () => {
  const definition = program('cat', '-e', 'process.stdin.pipe(process.stdout)')
  const upstreams = open([definition], { startTimeoutMs: 700 })
  await expect(upstreams.listTools('cat')).rejects.toMatchObject({ code: expect.stringMatching(/^UPSTREAM_/) })
})

it('a cancelled wait does not end a start that others wait for', async () => {
  const upstreams = open([raw('good')])
  const abort = new AbortController()
  const impatient = upstreams.callTool('good', 'pid', {}, { signal: abort.signal })
  const patient = upstreams.callTool('good', 'pid', {})
  abort.abort()
  await expect(impatient).rejects.toMatchObject({ code: 'CANCELLED' })
  await expect(patient).resolves.toBeDefined()
})

it('a server name that is not configured is refused', async () => {
  await expect(open([]).callTool('nobody', 'x', {})).rejects.toMatchObject({ code: 'PROXY_SERVER_UNAVAILABLE' })
})

it('500 calls at once are all answered', async () => {
  const upstreams = open([raw('good')])
  const warned = vi.fn<(warning: Error) => void>()
  process.on('warning', warned)
  onTestFinished(() => void process.off('warning', warned))
  const { signal } = new AbortController()
  const calls = Array.from({ length: 500 }, (_, i) => upstreams.callTool('good', 'echo', { text: `${i}` }, { signal }))
  expect((await Promise.all(calls)).map(textOf)).toEqual(Array.from({ length: 500 }, (_, i) => `${i}`))
  expect(warned).not.toHaveBeenCalled()
})

it('an aborted call fails at once and is cancelled at the server', async () => {
  const file = await temporaryFile()
  const upstreams = open([raw('slow', file)])
  const abort = new AbortController()
  const call = upstreams.callTool('slow', 'slow', {}, { signal: abort.signal })
  await until(async () => (await lines(file)).length === 1)
  abort.abort(new Error('enough'))
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
  await until(async () => (await lines(file)).length === 2)
  const [called, cancelled] = await lines(file)
  expect(cancelled).toBe(called!.replace('called', 'cancelled'))
  expect(upstreams.of('slow').state).toBe('running')
})

it('progress of a call is passed on in order', async () => {
  const upstreams = open([raw('slow', await temporaryFile())])
  const seen: unknown[] = []
  await upstreams.callTool('slow', 'progress', {}, { onProgress: (progress) => seen.push(progress) })
  expect(seen).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })))
})

it('progress of calls that run at once does not mix', async () => {
  const upstreams = open([raw('slow', await temporaryFile())])
  const counts = await Promise.all(
    Array.from({ length: 20 }, async () => {
      let count = 0
      await upstreams.callTool('slow', 'progress', {}, { onProgress: () => (count += 1) })
      return count
    }),
  )
  expect(counts).toEqual(Array.from({ length: 20 }, () => 3))
})

it('a server that dies fails the calls in flight once, and is started again on the next use', async () => {
  const upstreams = open([raw('dies', '3')])
  const pids = new Set<string>()
  for (let round = 0; round < 4; round += 1) {
    pids.add(textOf(await upstreams.callTool('dies', 'pid', {})))
    pids.add(textOf(await upstreams.callTool('dies', 'pid', {})))
    await expect(upstreams.callTool('dies', 'pid', {})).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message:
        "Server 'dies' exited with code 9 during the call of 'pid', which may or may not have taken effect. " +
        'Last output: out of luck',
    })
    expect(upstreams.of('dies').state).toBe('failed')
  }
  expect(pids.size).toBe(4)
})

it('a server that closes its output is ended, and started again on the next use', async () => {
  const upstreams = open([raw('closes-pipes')])
  const first = textOf(await upstreams.callTool('closes-pipes', 'pid', {}))
  await expect(upstreams.callTool('closes-pipes', 'stdout', {})).rejects.toMatchObject({
    code: 'UPSTREAM_UNREACHABLE',
    message:
      "Server 'closes-pipes' lost its connection during the call of 'stdout', which may or may not have taken effect.",
  })
  expect(textOf(await upstreams.callTool('closes-pipes', 'pid', {}))).not.toBe(first)
  await until(() => !isAlive(Number(first)))
})

it('a server that closes its input is ended, and started again on the next use', { tags: ['whole'] }, async () => {
  const upstreams = open([raw('closes-pipes')])
  const first = textOf(await upstreams.callTool('closes-pipes', 'pid', {}))
  await upstreams.callTool('closes-pipes', 'stdin', {})
  await expect(upstreams.callTool('closes-pipes', 'echo', {})).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' })
  await until(() => upstreams.of('closes-pipes').state !== 'running')
  expect(textOf(await upstreams.callTool('closes-pipes', 'pid', {}))).not.toBe(first)
})

it('a burst of list_changed notifications leads to one new list', async () => {
  const upstreams = open([raw('changes')])
  const heard: string[][] = []
  upstreams.listen({ onTools: (_server, tools) => heard.push(tools.map((tool) => tool.name)) })
  const first = await upstreams.listTools('changes')
  expect(await upstreams.listTools('changes')).toBe(first)
  await upstreams.callTool('changes', 'change', {})
  await until(() => heard.length === 2)
  expect(heard).toEqual([
    ['echo', 'pid'],
    ['echo', 'pid', 'later'],
  ])
  expect(await upstreams.listTools('changes')).toHaveLength(3)
  expect(heard).toHaveLength(2)
})

it('a server that ignores end of file and SIGTERM is killed', async () => {
  const upstreams = open([raw('ignores-signals')])
  const pid = Number(textOf(await upstreams.callTool('ignores-signals', 'pid', {})))
  expect(isAlive(pid)).toBe(true)
  await upstreams.close()
  expect(isAlive(pid)).toBe(false)
})

it('processes that a server started end with it, also when it exits by itself', async () => {
  const file = await temporaryFile()
  const upstreams = open([raw('grandchild', file)])
  await upstreams.listTools('grandchild')
  const first = Number((await lines(file))[0])
  expect(isAlive(first)).toBe(true)
  await expect(upstreams.callTool('grandchild', 'exit', {})).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' })
  await until(() => !isAlive(first))

  await upstreams.listTools('grandchild')
  const second = Number((await lines(file))[1])
  expect(isAlive(second)).toBe(true)
  await upstreams.close()
  await until(() => !isAlive(second))
})

it('a server does not outlive a bridge that exits without ending it', { tags: ['whole'] }, async () => {
  const bridge = join(import.meta.dirname, 'exits.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', bridge])
  expect(stdout).toMatch(/^\d+$/)
  await until(() => !isAlive(Number(stdout)))
})

it('a bridge that ends fails the calls in flight and a start under way, and starts nothing afterwards', async () => {
  const file = await temporaryFile()
  const upstreams = open([raw('slow', file), raw('hang')])
  const call = upstreams.callTool('slow', 'slow', {})
  const start = upstreams.listTools('hang')
  const outcomes = Promise.allSettled([call, start])
  await until(async () => (await lines(file)).length === 1)
  await upstreams.close()
  expect(await outcomes).toMatchObject([
    { reason: { code: 'UPSTREAM_UNREACHABLE' } },
    { reason: { code: 'SHUTTING_DOWN' } },
  ])
  await expect(upstreams.listTools('slow')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  await upstreams.close()
})

it('the 2026-07-28 revision is used with a server that knows no other, and as tolerantly as any other', async () => {
  const upstreams = open([raw('modern')])
  const tools = await upstreams.listTools('modern')
  expect(tools.map((tool) => tool.name)).toEqual(['echo', 'no-type'])
  expect(await upstreams.callTool('modern', 'echo', { text: 7 })).toEqual({
    content: [{ type: 'odd' }],
    structuredContent: 7,
  })
  expect(upstreams.of('modern').instructions).toBe('mode modern')
  expect(upstreams.logged.join('')).toContain('era="modern"')
})
