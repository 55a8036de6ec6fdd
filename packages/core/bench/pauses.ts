// Rows of pauses by the core's own work.
import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bindArguments } from '../src/calls/catalog/arguments/bind.ts'
import { CatalogTool } from '../src/calls/catalog/model/catalog-tool.ts'
import { FrameDecoder } from '../src/cell/protocol/codec.ts'
import { discoverServers } from '../src/config/discover.ts'
import type { ServerDefinition } from '../src/config/entries/server-definition.ts'
import { readSettings } from '../src/config/settings/settings.ts'
import { processContext } from '../src/config/settings/client-context.ts'
import { UpstreamSet } from '../src/upstream/upstream-set.ts'
import { createLog } from '../src/util/log.ts'
import { type Attacks, pauseRows } from '../../../bench/pauses.ts'
import type { BenchRow } from '../../../bench/row.ts'

export default function corePauses(): Promise<BenchRow[]> {
  return pauseRows(ATTACKS)
}

const ATTACKS: Attacks = {
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
