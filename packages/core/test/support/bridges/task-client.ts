// A client that declares the tasks extension. Each request is a connection of its own, and goes past the MCP package,
// which does not know tasks.
import type { HttpBridge } from './http-bridge.ts'
import { modern } from './raw-request.ts'

export const EXTENSIONS = { 'io.modelcontextprotocol/tasks': {} }

export interface TaskAnswer {
  resultType: string
  taskId: string
  status: string
  statusMessage?: string
  ttlMs: number
  pollIntervalMs: number
  inputRequests?: Record<string, { method: string; params: { message: string } }>
  result?: { content: { text: string }[]; isError: boolean }
  error?: { code: number; message: string; data?: unknown }
}

interface TaskRequest {
  method: string
  params: Record<string, unknown>
  /** That of the bridge by default. */
  token?: string
  extensions?: object
}

/** @returns the result, or `error` alone */
export async function sendTask(
  { url, token: own }: Pick<HttpBridge, 'url' | 'token'>,
  { method, params, token = own, extensions = EXTENSIONS }: TaskRequest,
): Promise<TaskAnswer> {
  const name = params['taskId'] ?? params['name']
  const { headers, body } = modern(method, params, { extensions, elicitation: { form: {} } })
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body,
  })
  const text = await response.text()
  const [, data = text] = /^data: (\{.*)$/m.exec(text) ?? []
  const { result, error } = JSON.parse(data) as { result: TaskAnswer; error?: TaskAnswer['error'] }
  return error ? ({ error } as TaskAnswer) : result
}
