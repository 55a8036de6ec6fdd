// The settings of workflows.
import { list } from '../../config/settings/setting-kinds.ts'

export const WORKFLOW_SETTINGS = {
  expose: list(
    { variable: 'MCP_BRIDGE_EXPOSE', meaning: 'Workflows that are tools and prompts of their own.' },
    {
      allowed: 'names of workflows separated by commas, such as weekly-report',
      separator: ',',
      matches: /^[a-z][a-z0-9-]{0,63}$/,
    },
  ),
} as const
