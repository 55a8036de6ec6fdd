// The texts in a value: strings, numbers, and names of entries. Pure.

/**
 * @param tell receives each; the rest is left out once it returns false
 * @param tell.isBytes binary data in base64
 */
export function eachText(value: unknown, tell: (text: string, isBytes: boolean) => boolean | void): void {
  if (typeof value === 'string') {
    tell(value, false)
    return
  }
  const pending: { value: unknown; isBytes: boolean; at?: number }[] = [{ value, isBytes: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value: one, isBytes, at = 0 } = next
    if (typeof one === 'string') {
      if (tell(one, isBytes) === false) return
    } else if (typeof one === 'number' || typeof one === 'bigint') {
      if (tell(String(one), false) === false) return
    } else if (Array.isArray(one)) {
      // Not all at once: the rest may be left out.
      if (at < one.length) pending.push({ value: one, isBytes, at: at + 1 }, { value: one[at], isBytes: false })
    } else if (typeof one === 'object' && one !== null)
      for (const [key, inner] of Object.entries(one)) {
        if (tell(key, false) === false) return
        pending.push({ value: inner, isBytes: isBytesOf(key, one) })
      }
  }
}

/**
 * The content of a tool's result without the words of the protocol. They are no server's: each result with a text has
 * them.
 */
export function contentOf(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('content' in result)) return result
  if (!Array.isArray(result.content)) return result
  const blocks = result.content.map((block: unknown) => (isPlainText(block) ? block.text : block))
  if (Object.keys(result).length === 1) return blocks
  const { content: _, structuredContent, ...rest } = result as Record<string, unknown>
  return [blocks, structuredContent, rest]
}

function isPlainText(block: unknown): block is { text: string } {
  if (typeof block !== 'object' || block === null) return false
  const { type, text } = block as Record<string, unknown>
  return type === 'text' && typeof text === 'string' && Object.keys(block).length === 2
}

/** Its parts share no character: a server can write any text there. */
const BASE64 = /^[A-Za-z0-9+/_\r\n-]*(?:={1,2}\s*|[^\S\r\n]\s*)?$/

/** Images and sounds (`data`) and binary resources (`blob`) of MCP. */
function isBytesOf(key: string, block: object): boolean {
  if (key !== 'blob' && !(key === 'data' && 'mimeType' in block)) return false
  const value = (block as Record<string, unknown>)[key]
  return typeof value === 'string' && BASE64.test(value)
}
