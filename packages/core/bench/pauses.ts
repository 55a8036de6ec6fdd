// Rows of pauses: how long one input of an outsider keeps the event loop, on which the resident serves every client.
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bindArguments } from '../../packages/core/src/calls/catalog/arguments/bind.ts'
import { CatalogTool } from '../../packages/core/src/calls/catalog/model/catalog-tool.ts'
import { FrameDecoder } from '../../packages/core/src/cell/protocol/codec.ts'
import { discoverServers } from '../../packages/core/src/config/discover.ts'
import type { ServerDefinition } from '../../packages/core/src/config/entries/server-definition.ts'
import { readSettings } from '../../packages/core/src/config/settings/settings.ts'
import { processContext } from '../../packages/core/src/config/settings/client-context.ts'
import { UpstreamSet } from '../../packages/core/src/upstream/upstream-set.ts'
import { createLog } from '../../packages/core/src/util/log.ts'
import { MASK_KINDS } from '../../packages/core/src/config/settings/sandbox.ts'
import { OriginIndex } from '@sandbridge/flow/origin-index.ts'
import { createMaskers } from '@sandbridge/masking/part.ts'
import { ms } from '../measure.ts'
import type { BenchRow } from '../row.ts'

const LIMIT_MS = 200
const MIXED = String.raw`\u0041%41&amp;1.5e+3 0001234567 word<b> aGVsbG8gd29ybGQgdGV4dA== `

export async function pauseRows(): Promise<BenchRow[]> {
  const root = mkdtempSync(path.join(tmpdir(), 'pauses-'))
  try {
    const rows: BenchRow[] = []
    for (const [name, prepare] of Object.entries(ATTACKS)) {
      const work = prepare(mkdtempSync(path.join(root, 'of-')))
      const longest = await longestPause(work)
      rows.push({ name, value: ms(longest), goal: `≤ ${LIMIT_MS} ms`, ok: longest <= LIMIT_MS })
    }
    return rows
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Each makes its input, and returns what reads it. */
const ATTACKS: Record<string, (folder: string) => () => unknown> = {
  'masking of 16 MB of `password=hunter22xx`': () => masking('password=hunter22xx\n'.repeat(800_000)),
  'masking of 4 MB of escapes': () => masking(String.raw`\n\u0041\x41`.repeat(333_000)),
  'masking of 4 MB of JSON in JSON': () =>
    masking(JSON.stringify(JSON.stringify(Array.from({ length: 70_000 }, (_, at) => `a\n"${at}@x.example"`)))),
  '40 MB of arguments of percent signs, with flow rules': () => origin('%41'.repeat(13_300_000)),
  'a million arguments, with flow rules': () => origin(Array.from({ length: 1_000_000 }, (_, at) => `x${at}`)),
  'a result of 2 MB in mixed encodings, with flow rules': () => {
    const index = new OriginIndex()
    const result = MIXED.repeat(30_000)
    return () => index.addResult({ server: 's', name: 't' }, result)
  },
  '60 links to a file of 4.9 MB of `[` in a project': (folder) =>
    servers(folder, (files) => {
      writeFileSync(path.join(files, '0.json'), '['.repeat(4_900_000))
      for (let at = 1; at < 60; at += 1) linkSync(path.join(files, '0.json'), path.join(files, `${at}.json`))
    }),
  '10,000 files in a project': (folder) =>
    servers(folder, (files) => {
      for (let at = 0; at < 10_000; at += 1) writeFileSync(path.join(files, `${at}.json`), tableOf(1))
    }),
  'a file with 50,000 servers in a project': (folder) =>
    servers(folder, (files) => writeFileSync(path.join(files, '0.json'), tableOf(50_000))),
  'a file with 8,000 servers in a project': (folder) =>
    servers(folder, (files) => writeFileSync(path.join(files, '0.json'), tableOf(8_000))),
  'a call of 60 MB of a cell': () => frames([JSON.stringify('\n'.repeat(29_000_000))]),
  'a wrong argument with 200,000 records': () => bound(Array.from({ length: 200_000 }, (_, id) => ({ id }))),
  'a wrong argument with 250,000 keys': () =>
    bound(Object.fromEntries(Array.from({ length: 250_000 }, (_, at) => [`k${at}`, at]))),
  'an error of 30 MB of a server': () =>
    called(`results['tools/call'] = () => ({ isError: true, content: [{ type: 'text', text: 'é\\n'.repeat(10e6) }] })`),
  'a line of 400 MB of a server': () => called('', `for (let at = 0; at < 400; at += 1) more('x'.repeat(1 << 20))`),
  'a tool with an enum of 7 MB': () =>
    called(`tool.inputSchema.properties = { a: { enum: Array.from({ length: 500_000 }, (_, at) => 'value' + at) } }`),
  'instructions of 40 MB of a server': () => called(`initialized.instructions = 'i '.repeat(20_000_000)`),
}

/** Reads calls with these arguments, in chunks as of a pipe. */
function frames(values: string[]): () => Promise<unknown> {
  const start = '{"type":"call","id":1,"cell":1,"method":"call_tool","params":{"args":['
  const bytes = Buffer.from(values.map((value) => `${start}${value}]}}\n`).join(''))
  return async () => {
    const decoder = new FrameDecoder({ onFrame: () => {}, onMalformed: () => {} })
    for (let at = 0; at < bytes.length; at += 65_536) {
      decoder.push(bytes.subarray(at, at + 65_536))
      await nextTurn()
    }
  }
}

/** Binds the argument of a tool that takes a text. */
function bound(a: unknown): () => unknown {
  const inputSchema = { type: 'object' as const, properties: { a: { type: 'string' } } }
  const tool = new CatalogTool('s', 's', 't', { name: 't', inputSchema })
  return () => {
    try {
      return bindArguments(tool, [], { a })
    } catch (error) {
      return error
    }
  }
}

/** Lists the tool of a server and calls it. @param start run by the server at its start @param call and by a call */
function called(start: string, call = ''): () => Promise<unknown> {
  const source = `const { writeSync } = require('node:fs')
    const more = (text) => { for (let at = 0; at < text.length;) try { at += writeSync(1, text.slice(at)) } catch {} }
    const tool = { name: 'go', inputSchema: { type: 'object' } }
    const serverInfo = { name: 's', version: '1' }
    const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
    const results = { initialize: () => initialized, 'tools/list': () => ({ tools: [tool] }), 'tools/call': () => {
      ${call}
      return { content: [] }
    } }
    ${start}
    require('node:readline').createInterface(process.stdin).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      const result = results[method]?.()
      if (id !== undefined) more(JSON.stringify({ jsonrpc: '2.0', id, result, error: result ? undefined : {} }) + '\\n')
    })`
  const definition = {
    name: 's',
    transport: { type: 'stdio' as const, command: process.execPath, args: ['-e', source], env: {} },
    source: { client: 'bench', file: '' },
  } satisfies ServerDefinition
  const upstreams = new UpstreamSet({
    context: processContext(),
    definitions: [definition],
    log: createLog('error'),
    clientInfo: { name: 'bench', version: '1' },
  })
  return async () => {
    await upstreams.listTools('s')
    await upstreams.callTool('s', 'go', {}).catch(() => {})
    await upstreams.close()
  }
}

function masking(text: string): () => Promise<unknown> {
  const masker = createMaskers({ kinds: MASK_KINDS }).of({})
  return () => masker.masked((mask) => mask(text))
}

function origin(value: unknown): () => unknown {
  const index = new OriginIndex()
  return () => index.originOf(value)
}

const tableOf = (count: number): string =>
  JSON.stringify({
    mcpServers: Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, { command: 'x' }])),
  })

function servers(cwd: string, write: (files: string) => void): () => Promise<unknown> {
  const home = path.join(cwd, 'home')
  mkdirSync(path.join(home, 'MCPs'), { recursive: true })
  mkdirSync(path.join(cwd, 'mcp-servers'))
  write(path.join(cwd, 'mcp-servers'))
  return () => discoverServers({ settings: readSettings({}, { home }), env: {}, home, cwd, ownPaths: [] })
}

/** The longest time on a processor between two turns of the event loop, which no other load lengthens. */
async function longestPause(work: () => unknown): Promise<number> {
  const now = (): number => process.cpuUsage().user / 1_000
  let longest = 0
  let last = now()
  let isOver = false
  const turn = (): void => {
    longest = Math.max(longest, now() - last)
    last = now()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await new Promise((resolve) => setTimeout(resolve, 10))
  longest = 0
  await work()
  await new Promise((resolve) => setTimeout(resolve, 10))
  isOver = true
  return longest
}
