// The settings of workflows.
import { list } from '@sandbridge/core/config/settings/setting-kinds.ts'

export const WORKFLOW_SETTINGS = {
  expose: list(
    {
      variable: 'MCP_BRIDGE_EXPOSE',
      meaning: 'Workflows that are tools and prompts of their own; saved tools that are prompts.',
    },
    {
      allowed: 'names of workflows and saved tools separated by commas, such as weekly-report',
      separator: ',',
      matches: /^[a-z][a-z0-9-]{0,63}$/,
    },
  ),
} as const
