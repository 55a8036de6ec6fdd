// @module-tag whole: a bridge for each test, twice
// This file verifies log notifications: clients that ask get lines of their own runs at their level, and other clients
// get none.
import type { Client, LoggingLevel } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { fixtureServer } from '../support/bridges/bridge-process.ts'
import { sharedHttpBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

interface Line {
  level: string
  logger?: string
  data: Record<string, unknown>
}

const LEVEL_KEY = 'io.modelcontextprotocol/logLevel'
const servers = {
  raw: fixtureServer('raw.mjs', 'dies', '1'),
  good: fixtureServer('raw.mjs', 'good'),
  secret: { ...fixtureServer('raw.mjs', 'exit'), env: { TOKEN: 'sesame-sesame-1' } },
}
const CODE =
  'await mcp_good.echo(text="x")\ntry:\n    await mcp_raw.echo(text="y")\nexcept Exception as e:\n    print(e)'

function heard(): { lines: Line[]; prepare: (client: Client) => void } {
  const lines: Line[] = []
  const prepare = (client: Client): void =>
    client.setNotificationHandler('notifications/message', ({ params }) => void lines.push(params as Line))
  return { lines, prepare }
}

/** How clients of each era request log lines. */
function asking(client: Client, era: 'legacy' | 'modern') {
  return async (code: string, level?: LoggingLevel): Promise<string> => {
    if (era === 'legacy' && level !== undefined) await client.setLoggingLevel(level)
    const _meta = era === 'modern' && level !== undefined ? { [LEVEL_KEY]: level } : undefined
    const params = { name: 'run_python', arguments: { code }, ...(_meta && { _meta }) }
    const { content } = await client.callTool(params, { timeout: 120_000 })
    return (content as { text?: string }[]).map(({ text }) => text).join('\n')
  }
}

const overHttp = sharedHttpBridge({ servers })

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  it(`a client of the ${era} era gets no log line until it asks, then those of its level, before the answer, and no secret of a server`, async () => {
    const { lines, prepare } = heard()
    const { client } = await startBridge({ servers, era, prepare })
    expect(client.getServerCapabilities()).toMatchObject({ logging: {} })
    const run = asking(client, era)
    await run(CODE)
    expect(lines).toEqual([])

    const text = await run(CODE, 'warning')
    const [, id] = /sandbridge log (\w{8})/.exec(text) ?? []
    expect(lines).toMatchObject([
      {
        level: 'warning',
        logger: 'sandbridge',
        data: { message: 'A call failed', run: id, server: 'raw', name: 'echo', code: 'UPSTREAM_UNREACHABLE' },
      },
    ])
    expect(lines[0]!.data['error']).toContain("Server 'raw'")

    lines.length = 0
    await run(CODE, 'debug')
    expect(lines.map(({ data }) => data['message'])).toEqual([
      'A call has ended',
      'A call failed',
      'A call has ended',
      'A cell has ended',
    ])
    lines.length = 0
    await run(CODE, 'emergency')
    expect(lines).toEqual([])

    await run('try:\n    await mcp_secret.echo(text="x")\nexcept Exception:\n    pass', 'debug')
    expect(lines.map(({ data }) => data['message'])).toContain('A call failed')
    expect(JSON.stringify(lines)).toContain('fatal: cannot log in with')
    expect(JSON.stringify(lines)).not.toContain('sesame')
  })

  it(`a client of the ${era} era gets no log line of another client of the same bridge`, async () => {
    const bridge = overHttp()
    const [one, two, silent] = [heard(), heard(), heard()]
    const clients = await Promise.all([one, two, silent].map(({ prepare }) => bridge.connect(era, { prepare })))
    const [first, second, third] = clients.map(({ client }) => asking(client, era))
    const texts = await Promise.all([first!(CODE, 'warning'), second!(CODE, 'warning'), third!(CODE)])
    const ids = texts.map((text) => /sandbridge log (\w{8})/.exec(text)?.[1])
    expect(new Set(ids).size).toBe(3)
    expect(one.lines.map(({ data }) => data['run'])).toEqual([ids[0]])
    expect(two.lines.map(({ data }) => data['run'])).toEqual([ids[1]])
    expect(silent.lines).toEqual([])
  })
})

it('a client gets personal data masked in its log, as the model does', async () => {
  const { lines, prepare } = heard()
  const quoting = fixtureServer('raw.mjs', 'exit', 'ada@example.org')
  const { client } = await startBridge({ servers: { quoting }, prepare, env: { MCP_BRIDGE_MASK: 'email' } })
  await asking(client, 'legacy')('await mcp_quoting.echo(text="x")', 'warning')
  expect(JSON.stringify(lines)).toContain('EMAIL_1')
  expect(JSON.stringify(lines)).not.toContain('ada@')
})
