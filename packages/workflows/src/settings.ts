// The settings of workflows.
import { setting, words } from '@sandbridge/core/config/settings/setting-kinds.ts'

export const WORKFLOW_SETTINGS = {
  expose: setting(
    'workflows.expose',
    'MCP_BRIDGE_EXPOSE',
    'Workflows that are tools and prompts of their own; saved tools that are prompts.',
    words('names of workflows and saved tools separated by commas, such as weekly-report', /^[a-z][a-z0-9-]{0,63}$/),
  ),
} as const
