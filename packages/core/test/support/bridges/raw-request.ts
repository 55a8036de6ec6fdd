// JSON-RPC requests as they are sent, without a client.
export const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** A request of the 2026-07-28 revision. @param capabilities of the client */
export function modern(
  method: string,
  params: object = {},
  capabilities: object = {},
): { headers: Record<string, string>; body: string } {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  }
  const uri = (params as { uri?: string }).uri
  return {
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(uri && { 'mcp-name': uri }) },
    body: message(method, { ...params, _meta: meta }),
  }
}
