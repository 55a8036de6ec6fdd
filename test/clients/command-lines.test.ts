// This file verifies what people get from the bridge through command-line clients: the Inspector's and mcporter.
//   npm ci --prefix test/clients --ignore-scripts
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, type TestContext } from 'vitest'
import { node as node24 } from '../conformance/suite.ts'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { CELLS, IMAGE, SHOWN } from './cells.ts'
import { installed } from './installed.ts'

const TIMEOUT = { timeout: 180_000 }

/** A home folder with a config file that both clients read. */
function prepare(): { home: string; config: string; env: Record<string, string> } {
  const home = makeHome()
  const config = path.join(home, 'mcp.json')
  const env = bridgeEnv(home)
  const bridge = { command: process.execPath, args: [CLI], env }
  writeFileSync(config, JSON.stringify({ mcpServers: { sandbridge: bridge } }))
  return { home, config, env }
}

describe('the Inspector', () => {
  const inspect = async (args: string[], context: TestContext): Promise<string> => {
    const cli = installed('@modelcontextprotocol/inspector/clients/launcher/build/index.js', context)
    const { home, config, env } = prepare()
    const all = [cli, '--cli', '--config', config, '--server', 'sandbridge', ...args, '--format', 'json', '-q']
    return (await runProgram(process.execPath, all, env, { cwd: home })).stdout
  }
  const call = async (code: string, context: TestContext): Promise<unknown> => {
    const args = ['--method', 'tools/call', '--tool-name', 'run_python', '--tool-args-json', JSON.stringify({ code })]
    return (JSON.parse(await inspect(args, context)) as { result: unknown }).result
  }

  it('the Inspector finds nothing to object to in the tool', TIMEOUT, async (context) => {
    expect(await inspect(['--method', 'tools/list', '--strict'], context)).toContain('"run_python"')
  })

  it('the Inspector shows text and data, images and errors', TIMEOUT, async (context) => {
    const [text, image, failed] = await Promise.all(
      [CELLS.text, CELLS.image, CELLS.error].map((code) => call(code, context)),
    )
    expect(text).toMatchObject({ content: [{ text: SHOWN.text }], structuredContent: { status: 'ok' } })
    expect(image).toMatchObject({ content: [{ text: SHOWN.image }, { type: 'image', data: IMAGE }] })
    expect(failed).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(SHOWN.error) as string }] })
  })
})

describe('mcporter', () => {
  const mcporter = async (args: string[], context: TestContext): Promise<string> => {
    const cli = installed('mcporter/dist/cli.js', context)
    if (!node24) context.skip('mcporter needs Node 24: npm ci --prefix test/conformance --ignore-scripts')
    const { home, config, env } = prepare()
    const { stdout } = await runProgram(node24, [cli, '--config', config, ...args], env, { cwd: home })
    return stdout
  }
  const call = (code: string, context: TestContext, output: string): Promise<string> =>
    mcporter(['call', 'sandbridge.run_python', `code=${code}`, '--output', output], context)

  it('mcporter lists the tool, and prints what a cell prints', TIMEOUT, async (context) => {
    expect(await mcporter(['list', 'sandbridge'], context)).toContain('run_python')
    expect(await call(CELLS.text, context, 'text')).toContain(SHOWN.text)
    expect(await call(CELLS.error, context, 'text')).toContain(SHOWN.error)
  })

  it('mcporter has the image in its JSON', TIMEOUT, async (context) => {
    const shown = await call(CELLS.image, context, 'json')
    for (const part of [SHOWN.image, IMAGE]) expect(shown).toContain(part)
  })
})
