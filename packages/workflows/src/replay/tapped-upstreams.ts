// Upstreams with a hook for a workflow's calls: listing goes directly to them, calls pass through the hook.
import type { CallOptions, ToolResult, Upstreams } from '@sandbridge/core/upstream'

export interface ToolCall {
  server: string
  tool: string
  args: Record<string, unknown>
}

type CallTool = (call: ToolCall, send: () => Promise<ToolResult>) => Promise<ToolResult>

export function tappedUpstreams(upstreams: Upstreams, callTool: CallTool): Upstreams {
  return new Proxy(upstreams, {
    get(target, key) {
      if (key === 'callTool') {
        return (server: string, tool: string, args: Record<string, unknown>, options?: CallOptions) =>
          callTool({ server, tool, args }, () => target.callTool(server, tool, args, options))
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
