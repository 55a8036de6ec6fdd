// Agents with a stub instead of their model: how each is configured for the model and the bridge, and run until the
// model has finished.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'vitest'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type ProgramResult, runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { WHY_NOT_NOW } from '@sandbridge/core/test/support/suite/needs.ts'
import { installed } from './installed.ts'
import { startStubModel } from './stub-model.ts'

/** The result of a run. */
export interface AgentRun {
  program: ProgramResult
  /** The conversation that the model received before its last turn, as JSON. */
  read: string
  turnCount: number
}

interface Agent {
  /** Finds the installed program. @returns the command to run */
  program: (context: TestContext) => string[]
  args: string[]
  env?: (modelUrl: string) => Record<string, string>
  /** The texts of its settings files, by their place in the home folder. */
  settings: (modelUrl: string, bridge: BridgeCommand) => Record<string, string>
}

interface BridgeCommand {
  command: string
  args: string[]
  env: Record<string, string>
}

/** Only loopback is reachable. */
const OFFLINE = { HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '127.0.0.1' }

const opencode: Agent = {
  program: (context) => [installed('opencode-linux-x64/bin/opencode', context)],
  args: ['run', '--format', 'json', 'go'],
  env: () => ({
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }),
  settings: (url, { command, args, env }) => {
    const model = { name: 'Stub', attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } }
    const settings = {
      provider: {
        stub: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${url}/v1`, apiKey: 'none' },
          models: { stub: model },
        },
      },
      model: 'stub/stub',
      small_model: 'stub/stub',
      autoupdate: false,
      share: 'disabled',
      permission: { '*': 'allow' },
      mcp: { sandbridge: { type: 'local', command: [command, ...args], environment: env } },
    }
    return { 'opencode.json': JSON.stringify(settings) }
  },
}

const gemini: Agent = {
  program: (context) => [process.execPath, installed('@google/gemini-cli/bundle/gemini.js', context)],
  args: ['-p', 'go', '--yolo', '-m', 'gemini-2.5-pro'],
  env: (url) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: '1' }),
  settings: (_, bridge) => {
    const settings = {
      security: { folderTrust: { enabled: false }, auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false },
      mcpServers: { sandbridge: { ...bridge, trust: true } },
    }
    return { '.gemini/settings.json': JSON.stringify(settings) }
  },
}

const qwen: Agent = {
  program: (context) => [process.execPath, installed('@qwen-code/qwen-code/cli.js', context)],
  args: ['-p', 'go', '--yolo'],
  env: (url) => ({ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'stub' }),
  settings: (_, bridge) => {
    const settings = {
      security: { folderTrust: { enabled: false }, auth: { selectedType: 'openai' } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false },
      mcpServers: { sandbridge: { ...bridge, trust: true, alwaysLoadTools: true } },
    }
    return { '.qwen/settings.json': JSON.stringify(settings) }
  },
}

const continueCli: Agent = {
  program: (context) => [process.execPath, installed('@continuedev/cli/dist/cn.js', context)],
  args: ['-p', 'go', '--auto', '--config', '.continue/config.yaml'],
  env: () => ({ CONTINUE_CLI_ENABLE_TELEMETRY: '0' }),
  settings: (url, { command, args, env }) => {
    const model = { name: 'stub', provider: 'openai', model: 'stub', apiBase: `${url}/v1`, apiKey: 'none' }
    const settings = {
      name: 'test',
      version: '1.0.0',
      schema: 'v1',
      models: [{ ...model, roles: ['chat'], capabilities: ['tool_use', 'image_input'] }],
      mcpServers: [{ name: 'sandbridge', command, args, env }],
    }
    // JSON is YAML.
    return { '.continue/config.yaml': JSON.stringify(settings) }
  },
}

const cline: Agent = {
  program: (context) => [installed('@cline/cli-linux-x64/bin/cline', context)],
  // With a folder of its own it starts no daemon, which would outlive the test and serve the next one.
  args: ['--json', '--data-dir', '.cline/data', '--provider', 'openai-compatible', 'please go'],
  settings: (url, bridge) => {
    const provider = 'openai-compatible'
    const settings = { provider, apiKey: 'none', model: 'stub', baseUrl: `${url}/v1` }
    const providers = {
      version: 1,
      lastUsedProvider: provider,
      modes: {},
      providers: { [provider]: { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' } },
    }
    return {
      '.cline/data/settings/providers.json': JSON.stringify(providers),
      '.cline/data/settings/cline_mcp_settings.json': JSON.stringify({ mcpServers: { sandbridge: bridge } }),
    }
  },
}

/** Large, so it is installed by hand. Offline, it asks no account for a model. */
const copilot: Agent = {
  program: (context) => [process.execPath, installed('@github/copilot/npm-loader.js', context, 'by-hand')],
  args: ['-p', 'go', '--allow-all-tools', '--disable-builtin-mcps', '--no-auto-update'],
  env: (url) => ({ COPILOT_OFFLINE: 'true', COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_MODEL: 'stub' }),
  settings: (_, bridge) => {
    const settings = { mcpServers: { sandbridge: { type: 'local', ...bridge, tools: ['*'] } } }
    return { '.copilot/mcp-config.json': JSON.stringify(settings) }
  },
}

/** Large, so it is installed by hand. */
const codex: Agent = {
  program: (context) => [
    installed('@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex', context, 'by-hand'),
  ],
  args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--json', 'go'],
  settings: (url, { command, args, env }) => {
    const toml = `
model = "stub"
model_provider = "stub"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.stub]
name = "stub"
base_url = "${url}/v1"
wire_api = "responses"
[mcp_servers.sandbridge]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
required = true
startup_timeout_sec = 60
[mcp_servers.sandbridge.env]
${Object.entries(env)
  .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  .join('\n')}
`
    return { '.codex/config.toml': toml }
  },
}

const AGENTS = { opencode, gemini, qwen, continue: continueCli, cline, copilot, codex }
export type AgentName = keyof typeof AGENTS

/**
 * Runs the agent with a model that runs these cells, one per turn. Skips the test when the agent is not installed.
 * @param home of several agents, otherwise one of its own
 * @param settings of the bridge
 */
export async function runAgent(
  name: AgentName,
  cells: string[],
  context: TestContext,
  home = makeHome(),
  settings: Record<string, string> = {},
): Promise<AgentRun> {
  // Two minutes of processor time for programs that change with their own releases only.
  if (WHY_NOT_NOW !== undefined) context.skip(WHY_NOT_NOW)
  const agent = AGENTS[name]
  const [command, ...before] = agent.program(context) as [string, ...string[]]
  const model = await startStubModel(cells)
  context.onTestFinished(() => model.close())
  const bridge = { command: process.execPath, args: [CLI], env: bridgeEnv(home, settings) }
  for (const [file, text] of Object.entries(agent.settings(model.url, bridge))) {
    mkdirSync(path.join(home, path.dirname(file)), { recursive: true })
    writeFileSync(path.join(home, file), text)
  }
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...OFFLINE, ...agent.env?.(model.url) }
  const program = await runProgram(command, [...before, ...agent.args], env, { cwd: home })
  return { program, read: JSON.stringify(model.requests.at(-1)), turnCount: model.requests.length }
}
