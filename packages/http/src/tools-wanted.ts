// Which tools a client asks for by the address that it was given: `?tools=search`, or `?codemode=false`, which clients
// with a code mode of their own send to every server. Pure.

/** @returns a value of `MCP_BRIDGE_TOOLS`, unchecked; undefined where the address asks for nothing */
export function toolsWanted(url: string): string | undefined {
  const at = url.indexOf('?')
  if (at === -1) return undefined
  const query = new URLSearchParams(url.slice(at))
  return (
    query.get('tools')?.trim() || (/^(?:false|0|off|no)$/i.test(query.get('codemode') ?? '') ? 'direct' : undefined)
  )
}
