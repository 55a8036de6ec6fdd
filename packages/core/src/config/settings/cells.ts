// Settings of cells and sessions, and of what cells and the log show.
import { choice, DAY_S, flag, seconds, setting, wholeNumber, words } from './setting-kinds.ts'

export type OtherLanguage = 'bash' | 'javascript'

const OTHER_LANGUAGES: readonly OtherLanguage[] = ['bash', 'javascript']
const OTHER_NAMES: Readonly<Record<string, string>> = { js: 'javascript', sh: 'bash', py: 'python' }
const languages = words('names separated by commas: python, bash, javascript', ['python', ...OTHER_LANGUAGES])

export const CELL_SETTINGS = {
  timeoutMs: setting(
    'cells.timeout',
    'MCP_BRIDGE_TIMEOUT',
    'The time limit of a cell, unless the `run_python` call sets a `timeout`.',
    seconds({ standard: 30, min: 1, max: DAY_S }),
  ),
  maxTimeoutMs: setting(
    'cells.maxTimeout',
    'MCP_BRIDGE_MAX_TIMEOUT',
    'The longest `timeout` that a `run_python` call can set.',
    seconds({ standard: 120, min: 1, max: DAY_S }),
  ),
  runtimeIdleTimeoutMs: setting(
    'cells.runtimeIdleTimeout',
    'MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT',
    'The idle timeout of a session. 0 disables this timeout.',
    seconds({ standard: 300, min: 0, max: DAY_S }),
  ),
  languages: setting(
    'cells.languages',
    'MCP_BRIDGE_LANGUAGES',
    'Languages that cells can use. `bash` adds the tool `run_bash`, and `javascript` adds `run_javascript`.',
    {
      ...languages,
      defaultText: 'python',
      whenMissing: (): readonly OtherLanguage[] => [],
      read: (given) => {
        const names = languages.read(typeof given === 'string' ? given.toLowerCase() : given)
        return Array.isArray(names) ? names.map((name: unknown) => OTHER_NAMES[String(name)] ?? name) : names
      },
      type: (context) => languages.type(context).transform((all) => OTHER_LANGUAGES.filter((one) => all.includes(one))),
    },
  ),
  session: setting(
    'cells.session',
    'MCP_BRIDGE_SESSION',
    'How long variables last: see docs/guide.md.',
    choice(['shared', 'fresh', 'checkpoint', 'durable'], 'shared'),
  ),
  once: setting(
    'cells.once',
    'MCP_BRIDGE_ONCE',
    'Do not repeat answered calls when a client sends a cell again: see docs/once.md.',
    choice(['on', 'off'], 'on'),
  ),
  compat: setting(
    'cells.compat',
    'MCP_BRIDGE_COMPAT',
    'Give cells the API of mcp-server-code-execution-mode where Sandbridge’s API differs: see docs/migration.md.',
    flag(false),
  ),
  projects: setting(
    'cells.projects',
    'MCP_BRIDGE_PROJECTS',
    'Give cells a folder `/projects` whose files persist.',
    flag(true),
  ),
} as const

export const OUTPUT_SETTINGS = {
  outputMode: setting(
    'output.mode',
    'MCP_BRIDGE_OUTPUT_MODE',
    'The format of a cell’s result.',
    choice(['compact', 'toon', 'json'], 'compact'),
  ),
  logLevel: setting(
    'output.logLevel',
    'MCP_BRIDGE_LOG_LEVEL',
    'The lowest level of log messages on stderr.',
    choice(['debug', 'info', 'warning', 'error'], 'info', {
      trace: 'debug',
      verbose: 'debug',
      warn: 'warning',
      critical: 'error',
      fatal: 'error',
    }),
    { ofClient: true },
  ),
  outputTokenCount: setting(
    'output.tokens',
    'MCP_BRIDGE_OUTPUT_TOKENS',
    'The approximate token limit of a cell’s result.',
    wholeNumber({ standard: 6000, min: 100, max: 1_000_000 }),
    { isLive: true },
  ),
} as const
