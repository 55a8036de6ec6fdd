// The settings of workflows.
import { setting, words } from '@sandbridge/core/config/settings'

export const WORKFLOW_SETTINGS = {
  expose: setting(
    'workflows.expose',
    'MCP_BRIDGE_EXPOSE',
    'Workflows that clients get as MCP tools and prompts, and saved functions that clients get as prompts.',
    words('names of workflows and saved tools separated by commas, such as weekly-report', /^[a-z][a-z0-9-]{0,63}$/),
  ),
} as const
