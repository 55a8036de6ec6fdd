// What a program that cannot run the bridge does: it says why, on stderr and to a client of MCP. The user of a client
// sees an answer, and of a process that ends only that the connection was closed.

/** A client speaks as soon as it has started a server. */
const SILENT_MS = 1_000

interface Message {
  id?: unknown
  method?: unknown
  params?: { protocolVersion?: unknown }
}

/** The program, or a part of it, cannot be loaded. */
export function refuseBroken(error: unknown): void {
  const [reason] = String(error instanceof Error ? error.message : error).split('\n')
  refuse(`Sandbridge cannot be loaded: ${reason}. If a file of it is missing or damaged, install it again.`)
}

/** Ends the process with exit code 1: when the client closes its end, or at once when there is no client. */
export function refuse(why: string): void {
  process.stderr.write(`sandbridge: ${why}\n`)
  process.exitCode = 1
  const words = process.argv.slice(2)
  const isServer = words.length === 0 || (words[0] === 'run' && !words.some((word) => word.indexOf('--http') === 0))
  if (process.stdin.isTTY || !isServer) return
  const silent = setTimeout(() => process.exit(), SILENT_MS)
  let rest = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('end', () => process.exit())
  process.stdout.on('error', () => process.exit())
  process.stdin.on('data', (chunk) => {
    clearTimeout(silent)
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const answer = answerTo(line, why)
      if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`)
    }
  })
}

function answerTo(line: string, why: string): unknown {
  let message: Message | null
  try {
    message = JSON.parse(line) as Message | null
  } catch {
    return undefined
  }
  if (message === null || message.id === undefined || typeof message.method !== 'string') return undefined
  const result = resultOf(message, why)
  const { id } = message
  return result ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error: { code: -32601, message: why } }
}

function resultOf({ method, params }: Message, why: string): object | undefined {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: (params && params.protocolVersion) || '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'sandbridge', version: '' },
        instructions: why,
      }
    case 'tools/list':
      return { tools: [{ name: 'run_python', description: why, inputSchema: { type: 'object' } }] }
    case 'tools/call':
      return { content: [{ type: 'text', text: why }], isError: true }
    case 'ping':
      return {}
    default:
      return undefined
  }
}
