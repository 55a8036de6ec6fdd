// Settings of cells and sessions.
import { choice, flag, seconds, DAY_S, type Setting } from './setting-kinds.ts'

/** Languages of cells beside Python. */
export type OtherLanguage = 'bash' | 'javascript'

const OTHER_LANGUAGES: readonly OtherLanguage[] = ['bash', 'javascript']

const languages: Setting<readonly OtherLanguage[]> = {
  variable: 'MCP_BRIDGE_LANGUAGES',
  meaning: 'Languages of cells. Each besides Python adds a tool, such as `run_bash`.',
  defaultText: 'python',
  allowed: 'names separated by commas: python, bash, javascript',
  json: { type: 'array', items: { type: 'string', enum: ['python', ...OTHER_LANGUAGES] }, minItems: 1 },
  separator: ',',
  whenMissing: () => [],
  parse: (text) => {
    const words = text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((word) => word !== '' && word !== 'python')
    return words.every((word) => OTHER_LANGUAGES.some((one) => one === word))
      ? OTHER_LANGUAGES.filter((one) => words.includes(one))
      : undefined
  },
}

export const CELL_SETTINGS = {
  timeoutMs: seconds(
    { variable: 'MCP_BRIDGE_TIMEOUT', meaning: 'The timeout of a cell whose call sets none.' },
    { default: 30, min: 1, max: DAY_S },
  ),
  maxTimeoutMs: seconds(
    { variable: 'MCP_BRIDGE_MAX_TIMEOUT', meaning: 'The longest timeout that a call may set.' },
    { default: 120, min: 1, max: DAY_S },
  ),
  runtimeIdleTimeoutMs: seconds(
    {
      variable: 'MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT',
      meaning: 'The idle timeout of a session; 0 disables it.',
    },
    { default: 300, min: 0, max: DAY_S },
  ),
  languages,
  session: choice(
    {
      variable: 'MCP_BRIDGE_SESSION',
      meaning:
        '`shared`: cells share variables and files. `fresh`: each cell gets its own sandbox. `checkpoint`: as `shared`, and variables that can be pickled return after a forced restart. `durable`: as `shared`, and the pod of a session outlives the bridge (only with `MCP_BRIDGE_RUNTIME=kubernetes`).',
    },
    ['shared', 'fresh', 'checkpoint', 'durable'],
    'shared',
  ),
  compat: flag(
    {
      variable: 'MCP_BRIDGE_COMPAT',
      meaning: 'Give cells the API of mcp-server-code-execution-mode where it differs: see docs/migration.md.',
    },
    false,
  ),
  projects: flag(
    {
      variable: 'MCP_BRIDGE_PROJECTS',
      meaning: 'Give cells a folder `/projects` whose files persist.',
    },
    true,
  ),
} as const
