// This file verifies the record of a real bridge, and that a call that must be recorded but cannot be is not made.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { devNull } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { LogFolder } from '../../../core/src/util/stores/files/log-folder.ts'
import { readRecord } from '../../src/audit/read-record.ts'
import { verifyRecord } from '../../src/audit/verify-record.ts'
import { newId } from '../../../core/src/observe/events/new-id.ts'
import { ANY_RUNTIME, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type ObservedBridge, openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'

const good = fixtureServer('raw.mjs', 'good')
const folderOf = ({ home }: Pick<ObservedBridge, 'home'>) => path.join(home, 'MCPs/.sandbridge/audit')

async function entriesOf(observed: ObservedBridge) {
  await observed.bridge.close()
  return (await readRecord(new LogFolder(folderOf(observed)), {}, 1_000)).map(({ fields }) => fields)
}

const textOf = (folder: string) =>
  readdirSync(folder)
    .map((name) => readFileSync(path.join(folder, name), 'utf8'))
    .join('')

it('the record has a line for a run and one for each of its calls, with who, what, how long and the shape of arguments', async () => {
  const observed = await openObserved({ servers: { raw: good }, env: { MCP_BRIDGE_AUDIT: 'shape' } })
  await observed.run('await mcp_raw.echo(text="very private words")', {
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  })
  const entries = await entriesOf(observed)
  const [call, run] = entries
  expect(entries).toHaveLength(2)
  expect(call).toMatchObject({
    type: 'call',
    kind: 'tool',
    server: 'raw',
    name: 'echo',
    client: 'observer',
    // The definition of this tool names no argument.
    args: '{…: string}',
    outcome: 'ok',
    state: 'answered',
  })
  expect(call!['argsHash']).toMatch(/^[0-9a-f]{64}$/)
  expect(call!['bytes']).toBeGreaterThan(10)
  expect(run).toMatchObject({
    type: 'run',
    id: call!['cell'],
    status: 'ok',
    clientVersion: '7',
    tool: 'run_python',
    transport: 'pipe',
    provider: ANY_RUNTIME,
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  })
  expect(run!['codeHash']).toMatch(/^[0-9a-f]{64}$/)
  expect(textOf(folderOf(observed))).not.toContain('private')
  expect(await verifyRecord(new LogFolder(folderOf(observed)))).toMatchObject({ problems: [], remarks: [] })
})

it('the record has the arguments when it is set to full, without the secrets of the server', async () => {
  const observed = await openObserved({
    servers: { raw: { ...good, env: { TOKEN: 'sesame-sesame-1' } } },
    env: { MCP_BRIDGE_AUDIT: 'full' },
  })
  await observed.run('await mcp_raw.echo(text="open sesame-sesame-1 now", password="p4ss")')
  const [call] = await entriesOf(observed)
  expect(call!['args']).toContain('open [redacted] now')
  const text = textOf(folderOf(observed))
  expect(text).not.toContain('sesame-sesame-1')
  expect(text).not.toContain('p4ss')
})

it('the record has the denial of a call by a rule, however the call is made', async () => {
  const hub = {
    ...fixtureServer('ruled.mjs', devNull),
    permissions: { deny: ['create_issue', 'delete_repo', 'delete_all'] },
  }
  const observed = await openObserved({ servers: { hub }, env: { MCP_BRIDGE_AUDIT: 'shape' } })
  const seenBefore = await observed.run('await mcp_hub.create_issue(title="x")')
  const notSeenBefore = await observed.run('name = "delete_repo"\nawait getattr(mcp_hub, name)()')
  const caught = await observed.run('try: await mcp_hub.delete_all()\nexcept Exception: pass')
  const denials = (await entriesOf(observed)).filter(({ type }) => type === 'denial')
  const said = JSON.stringify([seenBefore, notSeenBefore, caught].map(({ content }) => content))
  expect(denials, said).toMatchObject(
    ['create_issue', 'delete_repo', 'delete_all'].map((tool) => ({
      server: 'hub',
      name: tool,
    })),
  )
})

it('the record has failures, questions with their answers, denials and changed definitions', async () => {
  const observed = await openObserved({
    servers: { asker: fixtureServer('raw.mjs', 'asks', 'elicitation/create') },
    env: { MCP_BRIDGE_AUDIT: 'shape' },
    capabilities: { elicitation: { form: {} } },
    prepare: (client) => client.setRequestHandler('elicitation/create', () => ({ action: 'decline' })),
  })
  await observed.run('await mcp_asker.echo(text="x")')
  observed.redefine({ other: good })
  await observed.run('await mcp_other.nothing()')
  const call = { id: newId(), kind: 'tool' as const, server: 'other', name: 'rm' }
  observed.bridge.events.emit({ type: 'call.decided', ...call, decision: 'deny', rule: 'other__rm' })
  const id = newId()
  observed.bridge.events.emit({ type: 'sign-in', id, server: 'other', outcome: 'signed-in' })
  const entries = await entriesOf(observed)
  const types = entries.map((one) => one['type'] as string).toSorted((a, b) => a.localeCompare(b))
  expect(types).toEqual(['answer', 'call', 'config', 'denial', 'question', 'run', 'run', 'sign-in'])
  const of = (type: string) => entries.find((one) => one['type'] === type)
  expect(of('answer')).toMatchObject({ answer: 'decline', server: 'asker' })
  expect(of('config')).toMatchObject({ config: { added: ['other'], removed: ['asker'] } })
  expect(of('denial')).toMatchObject({ name: 'rm', rule: 'other__rm' })
  expect(entries.findLast(({ type }) => type === 'run')).toMatchObject({ status: 'error' })
})

it('the record is not written when it is off', async () => {
  const observed = await openObserved({ servers: { raw: good }, env: { MCP_BRIDGE_AUDIT: 'off' } })
  await observed.run('await mcp_raw.echo(text="x")')
  expect(await entriesOf(observed)).toEqual([])
  expect(existsSync(folderOf(observed))).toBe(false)
})

it('a record that cannot be written stops no call, unless it is required: then the call is not made', async () => {
  const journal = (home: string) => path.join(home, 'journal')
  for (const required of [false, true]) {
    const observed = await openObserved({
      env: { MCP_BRIDGE_AUDIT: `shape required=${required ? '1' : '0'}` },
    })
    const { home } = observed
    observed.redefine({ raw: fixtureServer('raw.mjs', 'journal', journal(home)) })
    mkdirSync(path.join(home, 'MCPs/.sandbridge'), { recursive: true })
    // A file in place of the folder: nothing can be written there.
    writeFileSync(folderOf(observed), '')
    const result = await observed.run('await mcp_raw.echo(text="x")')
    const heard = readFileSync(journal(home), 'utf8')
    if (required) {
      expect(JSON.stringify(result.content)).toMatch(/STATE_UNWRITABLE|cannot be recorded/)
      expect(heard).not.toContain('tools/call')
    } else {
      expect(result.isError).not.toBe(true)
      expect(heard).toContain('tools/call')
    }
  }
})

it('a session is told once that the record cannot be written, and again only after it could be', async () => {
  const observed = await openObserved({ env: { MCP_BRIDGE_AUDIT: 'shape' } })
  const told = async () => {
    const { content } = await observed.run('1')
    return /cannot be written: ENOTDIR.*Tell the user: Free space/.test(JSON.stringify(content))
  }
  mkdirSync(path.join(observed.home, 'MCPs/.sandbridge'), { recursive: true })
  writeFileSync(folderOf(observed), '')
  // The first cell ends before the record is written, or after it.
  const first = await told()
  await expect.poll(() => observed.bridge.recordFailure).toBeDefined()
  expect([await told(), await told()]).toEqual([!first, false])
  rmSync(folderOf(observed))
  await told()
  await expect.poll(() => observed.bridge.recordFailure).toBeUndefined()
  expect(await told()).toBe(false)
  expect((await entriesOf(observed)).filter(({ type }) => type === 'run')).toHaveLength(5)
})

it('a required record has each call before it is sent', async () => {
  const observed = await openObserved({
    servers: { raw: good },
    env: { MCP_BRIDGE_AUDIT: 'shape required=1' },
  })
  await observed.run(
    'import asyncio\nr = await asyncio.gather(*[mcp_raw.echo(text=str(n)) for n in range(100)])\nlen(r)',
  )
  const types = (await entriesOf(observed)).map(({ type }) => type)
  expect(types.filter((type) => type === 'call.started')).toHaveLength(100)
  expect(types.filter((type) => type === 'call')).toHaveLength(100)
  expect(types.indexOf('call.started')).toBeLessThan(types.indexOf('call'))
})
