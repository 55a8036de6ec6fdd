/** The MCP method behind each kind of call, in records and spans. */
export const MCP_METHODS = {
  tool: 'tools/call',
  resource: 'resources/read',
  prompt: 'prompts/get',
  completion: 'completion/complete',
  resources: 'resources/list',
  prompts: 'prompts/list',
} as const
