// This file verifies the spans and metrics of a real bridge: by the semantic conventions for MCP, with a collector that
// refuses anything outside OTLP.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { get as request } from 'node:http'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { toldOf } from '@sandbridge/core/test/support/suite/told.ts'
import { newId } from '../../../core/src/observe/events/new-id.ts'
import { Metrics } from '../../src/metrics.ts'
import { readOtelSettings } from '../../src/otel-settings.ts'
import { PrometheusPort, prometheusText } from '../../src/prometheus.ts'
import { startTrace } from '../../src/start-trace.ts'
import { Telemetry } from '../../src/telemetry.ts'
import { type CollectedMetric, plain, startCollector } from '../support/collector.ts'
import { fixtureServer, ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'
import { needsProgram } from '@sandbridge/core/test/support/suite/needs.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

const pointsOf = (metrics: readonly CollectedMetric[], name: string) =>
  metrics.find((metric) => metric.name === name)?.histogram?.dataPoints ?? []

it('a bridge with OTEL_EXPORTER_OTLP_ENDPOINT sends the tree of a run in the trace of its client, and measures it', async () => {
  const collector = await startCollector()
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url)
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-key=a%20b')
  vi.stubEnv('OTEL_SERVICE_NAME', 'my-bridge')
  const { run, bridge } = await openObserved({
    servers: { raw: fixtureServer('raw.mjs', 'shows-meta') },
    env: { MCP_BRIDGE_AUDIT: 'off' },
  })
  const meta = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'k=v', baggage: 'who=me' }
  const result = await run('await mcp_raw.echo(text="x")', meta)
  await run('await mcp_raw.no_such_tool()')
  await bridge.close()

  expect(collector.headers).toMatchObject({ 'x-key': 'a b', 'content-type': 'application/x-protobuf' })
  expect(collector.resource).toMatchObject({ 'service.name': 'my-bridge' })
  const [server, cell, call] = ['tools/call run_python', 'cell', 'tools/call echo'].map((name) =>
    collector.spans.find((span) => span.name === name && span.traceId === TRACE)!,
  )
  expect(server).toMatchObject({ kind: 2, parentSpanId: SPAN, traceState: 'k=v', status: {} })
  expect(server!.attributes).toMatchObject({
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'run_python',
    'gen_ai.operation.name': 'execute_tool',
    'network.transport': 'pipe',
    'mcp.client.name': 'observer',
  })
  expect(server!.attributes['jsonrpc.request.id']).toMatch(/^\d+$/)
  expect(server!.attributes['mcp.protocol.version']).toMatch(/^20\d\d-/)
  expect(cell).toMatchObject({ kind: 1, parentSpanId: server!.spanId })
  expect(call).toMatchObject({ kind: 3, parentSpanId: cell!.spanId, status: {} })
  expect(call!.attributes).toMatchObject({
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'echo',
    'gen_ai.operation.name': 'execute_tool',
    'mcp.server.name': 'raw',
    'network.transport': 'pipe',
  })
  for (const content of ['arguments', 'result'])
    expect(call!.attributes).not.toHaveProperty([`gen_ai.tool.call.${content}`])
  expect(Number(call!.endTimeUnixNano)).toBeGreaterThan(Number(call!.startTimeUnixNano))
  const text = JSON.stringify(result.content)
  for (const word of [`00-${TRACE}-${call!.spanId}-01`, 'k=v', 'who=me']) expect(text).toContain(word)

  const failed = collector.spans.find(({ name, traceId }) => name === 'tools/call run_python' && traceId !== TRACE)!
  expect(failed).toMatchObject({ status: { code: 2 } })
  expect(failed.attributes).toMatchObject({ 'error.type': 'tool_error' })
  expect(failed).not.toHaveProperty('parentSpanId')

  const [served] = pointsOf(collector.metrics, 'mcp.server.operation.duration')
  expect(served!.explicitBounds).toEqual(BOUNDS)
  expect(plain(served!.attributes)).not.toHaveProperty('jsonrpc.request.id')
  const [called] = pointsOf(collector.metrics, 'mcp.client.operation.duration')
  expect(plain(called!.attributes)).toMatchObject({ 'mcp.server.name': 'raw', 'gen_ai.tool.name': 'echo' })
  const names = collector.metrics.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining([
      'mcp.client.session.duration',
      'mcp.server.session.duration',
      'sandbridge.cell.duration',
      'sandbridge.sandbox.start.duration',
      'sandbridge.tokens.returned',
    ]),
  )
})

it('a bridge with OTEL_EXPORTER_OTLP_ENDPOINT sends the same in JSON, and the content of calls, when asked to', async () => {
  const collector = await startCollector()
  vi.stubEnv('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', 'true')
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url)
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json')
  const { run, bridge } = await openObserved({ servers: { raw: fixtureServer('raw.mjs', 'good') } })
  await run('await mcp_raw.echo(text="x")', { traceparent: `00-${TRACE}-${SPAN}-01` })
  await bridge.close()
  expect(collector.headers['content-type']).toBe('application/json')
  expect(collector.spans.map(({ name, traceId }) => [name, traceId])).toEqual([
    ['tools/call echo', TRACE],
    ['cell', TRACE],
    ['tools/call run_python', TRACE],
  ])
  expect(collector.spans[0]!.attributes).toMatchObject({
    'gen_ai.tool.call.arguments': '{"text":"x"}',
    'gen_ai.tool.call.result': expect.stringContaining('"text":"x"'),
  })
  expect(collector.spans.at(-1)).toMatchObject({ parentSpanId: SPAN, kind: 2 })
  expect(pointsOf(collector.metrics, 'mcp.client.operation.duration')[0]!.explicitBounds).toEqual(BOUNDS)
})

it(
  'a bridge with OTEL_EXPORTER_OTLP_ENDPOINT runs cells as usual when the collector never answers',
  { tags: ['whole'] },
  async () => {
    const collector = await startCollector()
    collector.answer = () => {}
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url)
    vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20')
    const { run, bridge } = await openObserved({ servers: { raw: fixtureServer('raw.mjs', 'good') } })
    const result = await run(
      'import asyncio\nr = await asyncio.gather(*[mcp_raw.echo(text="x") for _ in range(50)])\nlen(r)',
    )
    expect(JSON.stringify(result.content)).toContain('50')
    await bridge.close()
  },
)

const stamp = (seq: number) => ({ seq, at: Date.now(), mono: performance.now() })
const trace = { traceId: TRACE, sampled: true }

function floods(telemetry: Telemetry, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const about = { id: newId(), tool: 'run_bash', transport: 'pipe' as const }
    const ended = { type: 'run.ended', id: about.id, outcome: 'ok', durationMs: 1, content: [] } as const
    telemetry.receive(
      toldOf([
        { type: 'run.started', ...about, trace, ...stamp(index) },
        { ...ended, ...stamp(index) },
      ]),
    )
  }
}

it.each([
  ['is gone', 'http://127.0.0.1:1', undefined],
  ['never answers', '', () => {}],
  ['answers 429', '', 429],
  ['answers garbage', '', 400],
] as const)('telemetry throws nothing, and ends, when the collector %s', async (_, url, answer) => {
  const collector = await startCollector()
  if (answer !== undefined) {
    collector.answer = (response) => {
      if (typeof answer === 'number') response.writeHead(answer, { 'retry-after': 'soon' }).end('\0'.repeat(1000))
    }
  }
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url || collector.url, OTEL_BSP_SCHEDULE_DELAY: '20' }
  const otel = readOtelSettings(env)!
  const warn = () => {}
  const telemetry = new Telemetry({
    otel,
    metrics: new Metrics(),
    version: '1',
    redact: (_server, text) => text,
    warn,
  })
  for (let batch = 0; batch < 3; batch += 1) {
    floods(telemetry, 50)
    // Its timer sends them, and meets the collector.
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  await expect(telemetry.close()).resolves.toBeUndefined()
})

it('telemetry keeps a bounded number of spans for a collector that is gone, and counts and reports what it drops', async () => {
  const warnings: string[] = []
  const otel = readOtelSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })!
  const warn = (message: string) => void warnings.push(message)
  const telemetry = new Telemetry({ otel, metrics: new Metrics(), version: '1', redact: (_, text) => text, warn })
  floods(telemetry, 10_000)
  await telemetry.close()
  expect(warnings).toEqual(['Spans were dropped'])
})

it(
  'telemetry keeps spans for a collector that comes after the exporter has given up, and sends each once',
  { tags: ['whole'] },
  async () => {
    const collector = await startCollector()
    // Away. It keeps its port: whoever else got that could accept the spans.
    collector.answer = (response) => response.destroy()
    // What a busy machine sends and answers in more than this is sent again.
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '3000')
    const otel = readOtelSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    })!
    const warn = vi.fn()
    const telemetry = new Telemetry({ otel, metrics: new Metrics(), version: '1', redact: (_, text) => text, warn })
    floods(telemetry, 1_000)
    // Three times as long as one export may take: the exporter of OpenTelemetry drops what it has by then.
    await new Promise((resolve) => setTimeout(resolve, 9_000))
    collector.answer = undefined
    while (collector.spans.length < 1_000) await new Promise((resolve) => setTimeout(resolve, 20))
    await telemetry.close()
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(1_000)
    expect(collector.spans).toHaveLength(1_000)
    expect(collector.spans[0]!.name).toBe('tools/call run_bash')
    expect(warn).not.toHaveBeenCalled()
  },
)

it('telemetry sends again what a busy collector did not accept, once', async () => {
  const collector = await startCollector()
  let refusals = 0
  collector.answer = (response) => {
    refusals += 1
    collector.answer = undefined
    response.writeHead(503).end()
  }
  const otel = readOtelSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_BSP_SCHEDULE_DELAY: '10',
  })!
  const telemetry = new Telemetry({
    otel,
    metrics: new Metrics(),
    version: '1',
    redact: (_, text) => text,
    warn: () => {},
  })
  floods(telemetry, 3)
  while (collector.spans.length < 3) await new Promise((resolve) => setTimeout(resolve, 20))
  await telemetry.close()
  expect(refusals).toBe(1)
  expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(3)
  expect(collector.spans).toHaveLength(3)
})

const read = (env: Record<string, string>) => readOtelSettings(env)

it('readOtelSettings returns nothing without an endpoint, and when telemetry is disabled', () => {
  expect(read({})).toBeUndefined()
  expect(read({ OTEL_SERVICE_NAME: 'x' })).toBeUndefined()
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
  const none = { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', ...none })).toBeUndefined()
})

it('readOtelSettings builds the URLs of signals as the specification says', () => {
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/base/' })).toMatchObject({
    traces: { url: 'http://c:4318/base/v1/traces', protocol: 'http/protobuf' },
    metrics: { url: 'http://c:4318/base/v1/metrics', protocol: 'http/protobuf' },
  })
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x' }
  expect(read(own)).toMatchObject({ traces: { url: 'http://t/x' }, metrics: undefined })
  expect(read({ OTEL_TRACES_EXPORTER: 'otlp' })).toMatchObject({ traces: { url: 'http://localhost:4318/v1/traces' } })
})

it('readOtelSettings warns of settings that it does not support', () => {
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }
  expect(read({ ...base, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })!.warnings[0]).toContain('http/protobuf is used')
  expect(read({ ...base, OTEL_TRACES_SAMPLER: 'jaeger_remote' })!.warnings[0]).toContain('every trace is sampled')
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' })!.warnings[0]).toContain('not an http or https address')
})

it('telemetry samples by the trace, and by what the client has decided', () => {
  const samplerOf = (name: string, ratio = '') =>
    read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio })!
      .sampler
  const unsampled = { traceId: TRACE, parentId: SPAN, sampled: false }
  expect(startTrace(samplerOf(''), unsampled).sampled).toBe(false)
  expect(startTrace(samplerOf('always_on'), unsampled).sampled).toBe(true)
  expect(startTrace(samplerOf('always_off'), { ...unsampled, sampled: true }).sampled).toBe(false)
  const sampled = Array.from({ length: 2_000 }, () => startTrace(samplerOf('traceidratio', '0.25'), undefined).sampled)
  expect(sampled.filter(Boolean).length).toBeGreaterThan(350)
  expect(sampled.filter(Boolean).length).toBeLessThan(650)
})

/** The text format: a name, labels with escaped values, a number. */
const SAMPLE = /^[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_][a-zA-Z0-9_]*="(\\[\\"n]|[^\\"\n])*",?)*\})? -?[0-9.e+]+$/

it('MCP_BRIDGE_METRICS serves metrics that Prometheus can read', async () => {
  const port = new PrometheusPort(new Metrics(), () => {})
  const number = await port.listen({ host: '127.0.0.1', port: 0 })
  const call = { type: 'call.ended' as const, id: newId(), kind: 'tool' as const, server: 's"\\\n', name: 't' }
  const ended = { ...call, outcome: 'failed' as const, durationMs: 30, error: { code: 'X', message: '' } }
  port.receive(toldOf([{ ...ended, seq: 1, at: 1, mono: 1 }]))
  const get = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${number}/metrics`, { headers })
  const text = await (await get({})).text()
  const lines = text.trim().split('\n')
  for (const line of lines) expect(line.startsWith('# ') || SAMPLE.test(line)).toBe(true)
  expect(text).toContain('# TYPE mcp_client_operation_duration_seconds histogram')
  expect(text).toMatch(/_bucket\{.*mcp_server_name="s\\"\\\\\\n".*le="0.05"\} 1/)
  expect(text).toMatch(/_bucket\{.*le="0.02"\} 0/)
  expect(text).toMatch(/_bucket\{.*le="\+Inf"\} 1/)
  const second = new PrometheusPort(new Metrics(), () => {})
  await expect(second.listen({ host: '127.0.0.1', port: number })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await port.close()
})

it('MCP_BRIDGE_METRICS with a token serves metrics to those who send it, under any name', async () => {
  const port = new PrometheusPort(new Metrics(), () => {})
  onTestFinished(() => port.close())
  const number = await port.listen({ host: '127.0.0.1', port: 0, token: 'a-token-for-prometheus' })
  const statusFor = async (authorization?: string) =>
    (await fetch(`http://127.0.0.1:${number}/metrics`, { headers: authorization ? { authorization } : {} })).status
  expect(await statusFor('Bearer a-token-for-prometheus')).toBe(200)
  expect(await statusFor()).toBe(401)
  expect(await statusFor('Bearer a-token-for-prometheuS')).toBe(401)
  // As when a pod is scraped: the host name is its address.
  const host = { host: '10.1.2.3:9464' }
  expect(await statusOf(number, { ...host, authorization: 'Bearer a-token-for-prometheus' })).toBe(200)

  const own = new PrometheusPort(new Metrics(), () => {})
  onTestFinished(() => own.close())
  expect(await statusOf(await own.listen({ host: '127.0.0.1', port: 0 }), host)).toBe(403)
})

it('MCP_BRIDGE_METRICS has the number of open sessions, which is 0 at first', () => {
  const metrics = new Metrics()
  const line = () => /^sandbridge_open_sessions .*$/m.exec(prometheusText(metrics.read()))?.[0]
  expect(line()).toBe('sandbridge_open_sessions 0')
  const at = { seq: 1, at: 1, mono: 1 }
  const began = ['a', 'b'].map((id) => ({ type: 'session.started' as const, id, ...at }))
  metrics.receive(toldOf([...began, { type: 'session.ended', id: 'a', durationMs: 1, ...at }]))
  expect(line()).toBe('sandbridge_open_sessions 1')
  expect(prometheusText(metrics.read())).toContain('# TYPE sandbridge_open_sessions gauge\n')
})

/** With any `Host`, which fetch does not allow to set. */
function statusOf(port: number, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/metrics', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })
}

it('MCP_BRIDGE_METRICS serves metrics in which promtool finds no mistake', () => {
  needsProgram('promtool')
  const metrics = new Metrics()
  const at = { seq: 1, at: 1, mono: 1 }
  const of = <T extends object>(event: T) => ({ id: newId(), durationMs: 30, ...event, ...at })
  const events = [
    of({ type: 'run.started' as const, id: 'run', tool: 'run_python', transport: 'pipe' as const }),
    of({
      type: 'run.ended' as const,
      id: 'run',
      outcome: 'ok' as const,
      content: [{ type: 'text', text: 'hello' }],
    }),
    of({ type: 'cell.ended' as const, status: 'ok' as const, stateLost: false }),
    of({
      type: 'call.ended' as const,
      kind: 'tool' as const,
      server: 's"\\\n{}',
      name: 't',
      outcome: 'ok' as const,
    }),
    of({ type: 'call.decided' as const, kind: 'tool' as const, server: 's', name: 't', decision: 'deny' as const }),
    of({ type: 'question.answered' as const, method: 'm', answer: 'accept' }),
    of({ type: 'sandbox.started' as const, provider: 'p', python: '3' }),
    of({ type: 'sandbox.taken' as const, provider: 'p', wasPooled: true }),
    of({ type: 'server.state' as const, server: 's', state: 'running' as const, transport: 'stdio' as const }),
    of({ type: 'server.state' as const, server: 's', state: 'stopped' as const, transport: 'stdio' as const }),
    of({ type: 'session.started' as const }),
    of({ type: 'session.ended' as const }),
  ]
  metrics.receive(toldOf(events))
  metrics.add('sandbridge.telemetry.dropped', 1)
  expect(
    metrics
      .read()
      .map(({ name }) => name)
      .toSorted((a, b) => a.localeCompare(b)),
  ).toEqual(metrics.names.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b)))
  const input = prometheusText(metrics.read())
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
  const broken = spawnSync('promtool', ['check', 'metrics'], { input: `${input}\nno number\n`, encoding: 'utf8' })
  expect(broken.status).not.toBe(0)
})

it('MCP_BRIDGE_METRICS counts a bounded number of series', () => {
  const metrics = new Metrics()
  const call = {
    type: 'call.ended' as const,
    id: newId(),
    kind: 'tool' as const,
    server: 's',
    outcome: 'ok' as const,
  }
  for (let index = 0; index < 2_000; index += 1) {
    metrics.receive(toldOf([{ ...call, name: `tool${index}`, durationMs: 1, seq: 1, at: 1, mono: 1 }]))
  }
  const points = metrics.read()[0]?.histogram?.points ?? []
  expect(points).toHaveLength(501)
  expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(2_000)
})

it('MCP_BRIDGE_METRICS has every metric that the dashboard uses', () => {
  const metrics = new Metrics()
  const known = new Set(
    metrics.names.map(({ name, unit, kind }) => {
      const points = kind === 'histogram' ? { histogram: { bounds: [], points: [] } } : { [kind]: [] }
      const [line] = prometheusText([{ name, unit, description: '', ...points }]).split('\n')
      return line!.split(' ')[2]!
    }),
  )
  const dashboard = readFileSync(path.join(ROOT, 'packages/telemetry/dashboards/grafana.json'), 'utf8')
  const asked = [...dashboard.matchAll(/\b((?:mcp|sandbridge)_\w+?)(?:_bucket|_count|_sum)?[{[]/g)].map(
    ([, name]) => name!,
  )
  expect(asked.length).toBeGreaterThan(8)
  expect(asked.filter((name) => !known.has(name))).toEqual([])
})
