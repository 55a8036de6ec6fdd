// @module-tag whole: a bridge with every observer for each test
// This file verifies that one id leads from an error that the model reads to the log, the record and the trace, and
// that ordinary errors have no id.
import { expect, it } from 'vitest'
import { bridgeEnv, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startCollector } from '@sandbridge/telemetry/test/support/collector.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

interface Entry {
  type: string
  id: string
  [name: string]: unknown
}

it('one id leads from a failed call’s error to its log line, its record and its span', async () => {
  const collector = await startCollector()
  const servers = { raw: fixtureServer('raw.mjs', 'dies', '1'), other: fixtureServer('raw.mjs', 'good') }
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' }
  const bridge = await startBridge({ servers, env })
  const { home } = bridge
  expect(await bridge.run('await mcp_other.echo(text="before")')).toBe("'before'")
  const text = await bridge.run('await mcp_other.echo(text="x")\nawait mcp_raw.echo(text="y")')
  const [, id] = /More: `sandbridge log ([0-9a-f]{8})`/.exec(text) ?? []
  expect(id).toBeDefined()

  const lines = bridge.stderr.split('\n').filter((line) => line.includes(`run="${id}"`))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/ warning A call failed run="\w{8}" call="\w{8}" server="raw" name="echo" code="UPSTREAM_/)
  const [, call] = /call="(\w{8})"/.exec(lines[0]!)!

  while (collector.spans.filter(({ name }) => name === 'tools/call run_python').length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const spans = collector.spans.filter(({ attributes }) => String(attributes['sandbridge.run.id']).startsWith(id!))
  expect(spans.map(({ name }) => name)).toEqual(['tools/call echo', 'tools/call echo', 'cell', 'tools/call run_python'])
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(spans.at(-1)!.spanId.startsWith(id!)).toBe(true)

  const env2 = bridgeEnv(home)
  const log = (...args: string[]) => runCommand(['log', ...args], env2)
  const told = async (prefix: string) => {
    const { stdout } = await log(prefix, '--json')
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as Entry)))
  }
  const entries = await told(id!)
  expect(entries.map(({ type }) => type)).toEqual(['call', 'call', 'run'])
  expect(entries.find((entry) => entry.id.startsWith(call!))).toMatchObject({ server: 'raw' })
  const run = entries.find(({ type }) => type === 'run')!
  expect(run['traceId']).toBe(spans[0]!.traceId)
  // Also by the ids of the call and the cell in the trace.
  for (const { id: ofCall } of entries) expect(await told(ofCall)).toEqual(entries)
  expect(await told(String(run['run']).slice(0, 8))).toEqual(entries)
  const shown = await log(id!)
  expect(shown.stdout.trim().split('\n')).toHaveLength(3)
  for (const line of shown.stdout.trim().split('\n')) expect(line).toContain(id)
  expect(await log('0000000000')).toMatchObject({ code: 2, stderr: expect.stringContaining('no run') as string })
  expect((await log('xyz')).stderr).toContain("'xyz' is not an id")
})

it('an error whose message is complete has no id', async () => {
  const bridge = await startBridge({ env: { MCP_BRIDGE_RUNTIME: 'podman', PATH: '/nowhere' } })
  const missing = await bridge.call({ code: '1' })
  expect(missing.text).not.toContain('sandbridge log')
  expect(missing.isError).toBe(true)
})

it('ordinary errors of a cell have no id', async () => {
  const bridge = await startBridge({ servers: { raw: fixtureServer('raw.mjs', 'text-content') } })
  for (const code of ['1/0', '1 +', 'await mcp_raw.fail()', 'await mcp_raw.no_such_tool()', 'await mcp_nobody.x()']) {
    const { text, isError } = await bridge.call({ code })
    expect([code, isError, text.includes('sandbridge log')]).toEqual([code, true, false])
  }
  expect(bridge.stderr).not.toContain('run=')
})
