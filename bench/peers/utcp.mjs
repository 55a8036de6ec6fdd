// UTCP code mode with one MCP server, named by its command. Runs each line of stdin as code; writes the result and the
// time in milliseconds. Its code calls without await: each call blocks the isolate.
import { Console } from 'node:console'
import { createInterface } from 'node:readline'
import { CodeModeUtcpClient } from '@utcp/code-mode'

// The library logs to stdout, which carries the results.
globalThis.console = new Console(process.stderr)
await import('@utcp/mcp')
const [command, ...args] = process.argv.slice(2)
const client = await CodeModeUtcpClient.create()
const raw = { transport: 'stdio', command, args }
await client.registerManual({ name: 'raw', call_template_type: 'mcp', config: { mcpServers: { raw } } })
for await (const code of createInterface({ input: process.stdin })) {
  const started = performance.now()
  const { result, logs } = await client.callToolChain(code)
  process.stdout.write(`${JSON.stringify({ result: result ?? logs, ms: performance.now() - started })}\n`)
}
process.exit(0)
