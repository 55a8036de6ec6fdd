// What the fake API server reads and returns: JSON, `Status` objects, and network policies.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Serves network policies: creating one, and reading one by its name. */
export function answerPolicies(
  policies: Map<string, { spec?: unknown }>,
  response: ServerResponse,
  method: string,
  name: string | undefined,
  body: unknown,
): void {
  if (method === 'POST') {
    const policy = body as { metadata: { name: string }; spec?: unknown }
    if (policies.has(policy.metadata.name))
      return send(response, 409, status(409, 'AlreadyExists', `"${policy.metadata.name}" already exists`))
    policies.set(policy.metadata.name, policy)
    return send(response, 201, policy)
  }
  const found = policies.get(name ?? '')
  if (found) send(response, 200, found)
  else send(response, 404, status(404, 'NotFound', `networkpolicies "${name}" not found`))
}

export function verbOf(method: string, url: URL): string {
  if (method === 'POST') return 'create'
  if (method === 'DELETE') return 'delete'
  if (method === 'PATCH') return 'patch'
  if (url.searchParams.get('watch') === 'true') return 'watch'
  return /\/(pods|networkpolicies)$/.test(url.pathname) ? 'list' : 'get'
}

/** Applies a JSON patch of texts; undefined when one of its tests fails. */
export function applyPatch<T extends object>(target: T, steps: unknown): T | undefined {
  const result = structuredClone(target)
  for (const { op, path, value } of steps as { op: string; path: string; value: string }[]) {
    const keys = path
      .slice(1)
      .split('/')
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop()!
    let object = result as Record<string, unknown>
    for (const key of keys) object = object[key] as Record<string, unknown>
    if (op !== 'add' && object?.[last] === undefined) return undefined
    if (op === 'test' && object[last] !== value) return undefined
    if (op !== 'test') object[last] = value
  }
  return result
}

export function status(code: number, reason: string, message: string) {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }
}

export function send(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export async function readJson(request: IncomingMessage): Promise<object> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? {} : (JSON.parse(text) as object)
}

/** Refuses a request for a WebSocket. */
export function refuseUpgrade(socket: Duplex, refusal: { status: number; body: object } | undefined): void {
  const body = JSON.stringify(refusal?.body)
  const headers = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`
  socket.end(`HTTP/1.1 ${refusal?.status} Refused\r\n${headers}\r\n\r\n${body}`)
}
