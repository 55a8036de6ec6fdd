// What packages use of upstream.
export type { Link } from './dial.ts'
export { MESSAGE_TOO_LONG } from './stdio/stdio-transport.ts'
export { type UpstreamJail, type Upstreams, UpstreamSet } from './upstream-set.ts'
export type { CallOptions, ServerStart, ToolResult, UpstreamState, UpstreamTool } from './upstream.ts'
