// This file verifies that everything that happens in a bridge is an event with its context: the bridge, its sandbox and
// its servers are real.
import { devNull } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { BridgeError } from '../../src/errors.ts'
import { ANY_RUNTIME, fixtureServer } from '../support/bridges/bridge-process.ts'
import { type ObservedBridge, type ObservedOptions, openObserved } from '../support/bridges/observed-bridge.ts'

const good = fixtureServer('raw.mjs', 'good')

describe('the events of a bridge', () => {
  let answer = (): Record<string, unknown> => ({ action: 'decline' })
  const permissions = { ask: ['create_issue'], deny: ['delete_repo'] }
  /** For tests that are not about the start or the end of a bridge. */
  let shared: ObservedBridge
  let close: () => Promise<void>
  beforeAll(async () => {
    const options: ObservedOptions = {
      servers: {
        text: fixtureServer('raw.mjs', 'text-content'),
        asker: fixtureServer('raw.mjs', 'asks', 'elicitation/create'),
        hub: { ...fixtureServer('ruled.mjs', devNull), permissions } as typeof good,
        meta: fixtureServer('raw.mjs', 'shows-meta'),
        docs: fixtureServer('resources.mjs'),
      },
      capabilities: { elicitation: { form: {} } },
      prepare: (client) => client.setRequestHandler('elicitation/create', () => answer() as { action: 'decline' }),
    }
    shared = await openObserved(options, (end) => (close = end))
  })
  afterAll(() => close())
  beforeEach(() => {
    shared.bridge.events.flush()
    shared.events.length = 0
  })

  it('the events of a bridge describe a run, its cell and its calls, each with its parent', async () => {
    const { run, of, events } = await openObserved({ servers: { raw: good } })
    await run('print("hello")\nawait mcp_raw.echo(text="one")')
    const [[started], [ended]] = [of('run.started'), of('run.ended')]
    const [[cell], [cellEnd], [call], [callEnd]] = [
      of('cell.started'),
      of('cell.ended'),
      of('call.started'),
      of('call.ended'),
    ]
    expect(started).toMatchObject({ tool: 'run_python', client: 'observer', clientVersion: '7', transport: 'pipe' })
    expect(started!.requestId).toMatch(/^\d+$/)
    expect(ended).toMatchObject({ id: started!.id, outcome: 'ok' })
    expect(cell).toMatchObject({ parent: started!.id, number: 1, servers: ['raw'], provider: ANY_RUNTIME })
    expect(cell!.code).toContain('print("hello")')
    expect(
      of('session.started')
        .map(({ id }) => id)
        .concat(cell!.session!),
    ).toContain(cell!.session)
    expect(
      of('cell.output')
        .map(({ id, text }) => [id, text])
        .join(),
    ).toContain(`${cell!.id},hello`)
    expect(call).toMatchObject({ parent: cell!.id, session: cell!.session, client: 'observer', kind: 'tool' })
    expect(call).toMatchObject({ server: 'raw', name: 'echo', args: { text: 'one' } })
    expect(callEnd).toMatchObject({ id: call!.id, outcome: 'ok', result: { content: [{ text: 'one' }] } })
    expect(callEnd!.durationMs).toBeGreaterThan(0)
    expect(cellEnd).toMatchObject({ id: cell!.id, status: 'ok', value: { 'text/plain': "'one'" } })
    const order = ['run.started', 'cell.started', 'call.started', 'call.ended', 'cell.ended', 'run.ended']
    const told = events.map(({ type }) => type).filter((type) => order.includes(type))
    expect(told).toEqual(order)
  })

  it('the events of a bridge report when servers and sandboxes start, how long that took, and when they end', async () => {
    const { run, of, bridge } = await openObserved({ servers: { raw: good, broken: fixtureServer('raw.mjs', 'exit') } })
    await run('await mcp_raw.echo(text="one")\ntry:\n    await mcp_broken.echo(text="x")\nexcept Exception:\n    pass')
    const states = (server: string) =>
      of('server.state')
        .filter((event) => event.server === server)
        .map(({ state }) => state)
    expect(states('raw')).toEqual(['starting', 'running'])
    expect(states('broken').slice(0, 2)).toEqual(['starting', 'failed'])
    const failed = of('server.state').find(({ state }) => state === 'failed')!
    expect(failed.error).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' })
    expect(of('server.state').find(({ state }) => state === 'running')).toMatchObject({ transport: 'stdio' })
    const [sandbox] = of('sandbox.started')
    expect(sandbox).toMatchObject({ provider: ANY_RUNTIME, id: of('cell.started')[0]!.sandbox })
    expect(sandbox!.durationMs).toBeGreaterThan(0)
    await bridge.close()
    expect(of('sandbox.ended')).toMatchObject([{ id: sandbox!.id, reason: 'disposed' }])
    expect(of('session.ended')).toHaveLength(1)
    expect(states('raw')).toEqual(['starting', 'running', 'stopped'])
  })

  it('the events of a bridge report cells and calls that fail, and a run that never had a cell', async () => {
    const { run, of } = shared
    await run('await mcp_text.fail()')
    expect(of('call.ended')).toMatchObject([{ name: 'fail', outcome: 'tool_error' }])
    expect(of('cell.ended')).toMatchObject([{ status: 'error', raised: { name: 'ToolError' } }])
    expect(of('run.ended')).toMatchObject([{ outcome: 'tool_error' }])
    await run('1 +')
    expect(of('cell.ended')[1]).toMatchObject({ status: 'error', raised: { name: 'SyntaxError' } })
    // Observers keep names: as keys of metrics, in lists.
    await run("raise type('E' * 100_000, (Exception,), {})()")
    expect(of('cell.ended')[2]!.raised!.name.length).toBeLessThan(200)
  })

  it('the events of a bridge report the lists of resources and prompts that a cell asks for, also to complete a text', async () => {
    const { run, of } = shared
    await run('await mcp_docs.resources(); await mcp_docs._prompts()')
    const asked = (tool: string, argument: string) =>
      `b.ask_sync("complete_argument", server="docs", tool="${tool}", argument="${argument}", value="")`
    await run(
      `from sandbridge_kernel.api import bridge as b\n${asked('read_resource', 'uri')}\n${asked('get_prompt', 'name')}`,
    )
    const kinds = of('call.started').map(({ kind, server, name }) => [kind, server, name])
    const lists = ['resources', 'prompts'].map((kind) => [kind, 'docs', kind])
    expect(kinds).toEqual([...lists, ...lists])
    expect(of('call.ended').map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok'])
  })

  it('the events of a bridge report a question and its answer', async () => {
    const { run, of } = shared
    answer = () => ({ action: 'accept', content: { choice: 'blue' } })
    await run('await mcp_asker.echo(text="x")')
    const [asked] = of('question.asked')
    expect(asked).toMatchObject({ server: 'asker', method: 'elicitation/create', parent: of('cell.started')[0]!.id })
    expect(asked!.message).toContain('Which one?')
    expect(of('question.answered')).toMatchObject([{ id: asked!.id, answer: 'accept' }])
  })

  it('the events of a bridge report the decision on a call, its rule, the question to the user and the answer', async () => {
    const { run, of, events } = shared
    const answers = ['yes, this once', 'no']
    answer = () => ({ action: 'accept', content: { answer: answers.shift()! } })
    const names = ['get_issue', 'create_issue', 'create_issue', 'delete_repo']
    await run(
      `for name in ${JSON.stringify(names)}:\n    try:\n        await runtime.call_tool("hub", name, {"id": 1})\n    except runtime.PermissionDenied:\n        pass`,
    )
    const about = { parent: of('cell.started')[0]!.id, session: of('cell.started')[0]!.session, client: 'observer' }
    const of1 = { ...about, kind: 'tool', server: 'hub' }
    const asks = { rule: '"create_issue"', source: 'the definition of hub' }
    const [asked, again, refused, denied] = of('call.decided')
    expect(of('call.decided')).toHaveLength(4)
    const [read, made, ...others] = of('call.started')
    expect(read).toMatchObject({ ...of1, name: 'get_issue', allowed: { decision: 'allow' } })
    expect(read!.allowed!.rule).toBeUndefined()
    for (const one of [asked, again])
      expect(one).toMatchObject({ ...of1, ...asks, name: 'create_issue', decision: 'ask' })
    expect(refused).toMatchObject({ ...of1, ...asks, id: again!.id, decision: 'deny' })
    expect(denied).toMatchObject({ ...of1, name: 'delete_repo', decision: 'deny', rule: '"delete_repo"' })
    // A call has the id of the question about it, and no other call begins.
    expect(made).toMatchObject({ ...of1, id: asked!.id, name: 'create_issue', allowed: { ...asks, decision: 'ask' } })
    expect(others).toEqual([])
    const questions = of('question.asked')
    const calls = [{ server: 'hub', name: 'create_issue', args: { id: 1 } }]
    expect(questions).toMatchObject([about, about].map((one) => ({ ...one, method: 'permission', calls })))
    expect(questions[0]!.message).toContain('hub.create_issue')
    const ids = questions.map(({ id }) => id)
    expect(of('question.answered')).toMatchObject([
      { id: ids[0], answer: 'yes' },
      { id: ids[1], answer: 'no' },
    ])
    const order = ['call.decided', 'question.asked', 'question.answered', 'call.started', 'call.ended']
    const told = events.slice(events.indexOf(asked!), events.indexOf(again!)).map(({ type }) => type)
    expect(told.filter((type) => order.includes(type))).toEqual(order)
  })

  it('the events of a bridge name changed definitions', async () => {
    const { run, of, redefine } = await openObserved({ servers: { a: good, b: good } })
    await run('1')
    await sleep(20)
    redefine({ b: { ...good, env: { X: '1' } }, c: good })
    await run('2')
    expect(of('config.changed')).toMatchObject([{ added: ['c'], removed: ['a'], changed: ['b'] }])
  })

  it('the events of a bridge are not made without a listener, and the trace of a client still reaches servers', async () => {
    const { run, bridge } = await openObserved({
      servers: { raw: fixtureServer('raw.mjs', 'shows-meta') },
      unobserved: true,
    })
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const result = await run('await mcp_raw.echo(text="x")', { traceparent, tracestate: 'k=v' })
    expect(bridge.events.active).toBe(false)
    expect(JSON.stringify(result.content)).toContain(traceparent)
    expect(JSON.stringify(result.content)).toContain('k=v')
  })

  it('the events of a bridge leave the trace of a client unchanged while no spans are sent', async () => {
    const { run } = shared
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const result = await run('await mcp_meta.echo(text="x")', { traceparent })
    expect(JSON.stringify(result.content)).toContain(traceparent)
  })

  it('the events of a bridge name the observer that refused a call because it could not record it', async () => {
    const { run, of, bridge } = shared
    const removeGuard = bridge.events.subscribe({
      name: 'guard',
      receive: () => {},
      before: () => Promise.reject(new BridgeError('STATE_UNWRITABLE', 'The audit log cannot be written')),
    })
    onTestFinished(removeGuard)
    const result = await run('await mcp_meta.echo(text="x")')
    expect(JSON.stringify(result.content)).toContain('The audit log cannot be written')
    expect(of('call.ended')).toMatchObject([{ outcome: 'failed', error: { code: 'STATE_UNWRITABLE' } }])
  })
})
