// Settings of what cells and the log show.
import { choice, wholeNumber } from './setting-kinds.ts'

export const OUTPUT_SETTINGS = {
  outputMode: choice(
    { variable: 'MCP_BRIDGE_OUTPUT_MODE', meaning: 'The format of a cell’s result.' },
    ['compact', 'toon', 'json'],
    'compact',
  ),
  logLevel: choice(
    { variable: 'MCP_BRIDGE_LOG_LEVEL', meaning: 'The lowest level of messages that are logged to stderr.' },
    ['debug', 'info', 'warning', 'error'],
    'info',
    { warn: 'warning', critical: 'error', fatal: 'error' },
  ),
  outputTokenCount: wholeNumber(
    {
      variable: 'MCP_BRIDGE_OUTPUT_TOKENS',
      isLive: true,
      meaning: 'The approximate token limit of a cell’s result.',
    },
    { default: 6000, min: 100, max: 1_000_000 },
  ),
} as const
