// @module-tag whole: it installs other versions of Node
// This file verifies that every version of Node that `engines` allows runs cells, and that others say what is needed.
import { spawn, spawnSync } from 'node:child_process'
import { beforeEach, expect, it, vi } from 'vitest'
import { bridgeEnv, BUILT_CLI, makeHome, REAL_SANDBOX } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsWholeRun } from '@sandbridge/core/test/support/suite/needs.ts'
import { nodeOf } from '@sandbridge/core/test/support/sandboxes/other-node.ts'

vi.setConfig({ testTimeout: 400_000 })
beforeEach(needsWholeRun)

function newHome(): NodeJS.ProcessEnv {
  const home = makeHome()
  return bridgeEnv(home, { ...REAL_SANDBOX, MCP_BRIDGE_RESIDENT: 'off' })
}

/** Stdout of an MCP server that gets these messages, and its exit code after its client has closed. */
async function converse(
  node: string,
  methods: readonly string[],
): Promise<{ answers: unknown[]; code: number | null }> {
  const server = spawn(node, [BUILT_CLI], { env: newHome(), stdio: ['pipe', 'pipe', 'ignore'] })
  let text = ''
  server.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
    if (text.split('\n').length > methods.length) server.stdin.end()
  })
  for (const [id, method] of methods.entries())
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method })}\n`)
  const code = await new Promise<number | null>((resolve) => server.once('close', resolve))
  return {
    answers: text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
    code,
  }
}

it.each(['10.24.1', '20.18.0'])('Node %s says which version is needed, also through MCP', async (version) => {
  const node = nodeOf(version)
  const doctor = spawnSync(node, [BUILT_CLI, 'doctor'], { env: newHome(), encoding: 'utf8' })
  const why = `Sandbridge needs Node 20.19 or newer, and was started with Node ${version} (${node}).`
  expect([doctor.status, doctor.stdout]).toEqual([1, ''])
  expect(doctor.stderr).toMatch(/^[^\n]+\n$/)
  expect(doctor.stderr).toContain(why)
  const { answers, code } = await converse(node, ['initialize', 'tools/list', 'tools/call', 'resources/list'])
  expect(code).toBe(1)
  expect(answers).toMatchObject([
    { id: 0, result: { serverInfo: { name: 'sandbridge' }, instructions: expect.stringContaining(why) } },
    { id: 1, result: { tools: [{ name: 'run_python' }] } },
    { id: 2, result: { isError: true, content: [{ type: 'text', text: expect.stringContaining(why) }] } },
    { id: 3, error: { code: -32601 } },
  ])
})

it.each(['22.0.0', '23.4.0'])('cells run in the embedded sandbox of Node %s', (version) => {
  const words = [BUILT_CLI, 'exec', '-c', 'import json; print(6 * 7)']
  const { stdout, stderr } = spawnSync(nodeOf(version), words, {
    env: { ...newHome(), MCP_BRIDGE_RUNTIME: 'pyodide' },
    encoding: 'utf8',
  })
  expect(stdout, stderr).toBe('42\n')
})
