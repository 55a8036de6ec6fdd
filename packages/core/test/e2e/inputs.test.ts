// This file verifies that commands ask for servers' inputs in a terminal, and that nothing is asked without one.
import { beforeEach, describe, expect, it } from 'vitest'
import { bridgeEnv, CLI, makeHome, published } from '../support/bridges/bridge-process.ts'
import { needsTerminal, runInTerminal, type Step } from '../support/machine/in-terminal.ts'
import { runProgram } from '../support/machine/run-program.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const inputs = [
  { id: 'api-key', type: 'promptString', description: 'the API key', password: true },
  { id: 'account', type: 'promptString', description: 'your account' },
  { id: 'zone', type: 'pickString', description: 'a zone', options: ['eu', 'us'] },
  { id: 'found', type: 'command', command: 'some.command' },
]
const server = (env: Record<string, string>) => ({ ...published.everything(), env, inputs })
const servers = {
  asks: server({ A_KEY: '${input:api-key}', ACCOUNT: '${input:account}', ZONE: '${input:zone}' }),
  command: server({ FOUND: '${input:found}' }),
}
const code =
  'env = str(await mcp_asks.get_env())\nprint([word for word in ("k3y-of-ann", "ann-1", "us") if word in env])'

/** Runs a command in a terminal and types an answer to each text that it shows. */
const inTerminal = (steps: Step[], args: string[], env: Record<string, string> = {}) =>
  runInTerminal([process.execPath, CLI, ...args], bridgeEnv(makeHome(servers), { TERM: 'xterm', ...env }), { steps })

describe('in a terminal', () => {
  beforeEach(needsTerminal)

  it('in a terminal, each input is asked for in its own way, and a secret one is not shown', async () => {
    const steps: [string, string][] = [
      ['Value: ', 'k3y-of-ann\r'],
      ['Value: ', 'ann-1\r'],
      ['1 to 2: ', 'fr\r'],
      ['1 to 2: ', '2\r'],
    ]
    const { code: exitCode, stdout } = await inTerminal(steps, ['exec', '-c', code])
    expect(stdout).toContain('Server \'asks\' needs the API key (input "api-key").')
    expect(stdout).toContain('  1. eu\r\n  2. us\r\n')
    expect(stdout).toContain("['k3y-of-ann', 'ann-1', 'us']")
    // Only what the cell itself printed.
    expect(stdout.split('k3y-of-ann')).toHaveLength(2)
    expect(exitCode).toBe(0)
  })

  it('in a terminal, the user may take longer than the cell', async () => {
    const slow = `import time\n${code}`
    const steps: [string, string][] = [['Value: ', 'ann-1\r']]
    const env = { MCP_INPUT_API_KEY: 'k3y-of-ann', MCP_INPUT_ZONE: 'us', IN_TERMINAL_WAIT: '11' }
    const { stdout } = await inTerminal(steps, ['exec', '-t', '10', '-c', slow], env)
    expect(stdout).toContain("['k3y-of-ann', 'ann-1', 'us']")
  })

  it('in a terminal, a missing answer is an error that names the variable, and Ctrl-C ends the command', async () => {
    const env = { MCP_INPUT_ACCOUNT: 'ann-1', MCP_INPUT_ZONE: 'us' }
    const none = await inTerminal([['Value: ', '\r']], ['exec', '-c', code], env)
    expect(none.stdout).toContain('needs the input "api-key"')
    expect(none.stdout).toContain('Set the environment variable MCP_INPUT_API_KEY')
    const ended = await inTerminal([['Value: ', '\u0003']], ['exec', '-c', code], env)
    expect(ended.code).toBe(130)
  })
})

it('without a terminal, a command asks for no input, and says what to set', async () => {
  const {
    code: exitCode,
    stdout,
    stderr,
  } = await runProgram(process.execPath, [CLI, 'exec', '-c', code], bridgeEnv(makeHome(servers)), {
    input: 'k3y-of-ann\n',
  })
  expect(exitCode).toBe(1)
  expect(stdout + stderr).toContain('Set the environment variable MCP_INPUT_API_KEY')
  expect(stdout + stderr).not.toContain('Value:')
})

it(
  'over stdio, no input is asked for, and the error names an input that only VS Code can find',
  { tags: ['whole'] },
  async () => {
    const bridge = await startBridge({ servers })
    expect(await bridge.run('await mcp_asks.get_env()')).toContain('Set the environment variable MCP_INPUT_API_KEY')
    const said = await bridge.run('await mcp_command.get_env()')
    expect(said).toContain('the input "found" is the result of a command inside VS Code')
    expect(said).toContain('MCP_INPUT_FOUND')
  },
)
