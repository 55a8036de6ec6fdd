/** The type of a page that a client shows as an app (MCP Apps 2026-01-26, UI Resource Format). */
export const APP_TYPE = 'text/html;profile=mcp-app'
