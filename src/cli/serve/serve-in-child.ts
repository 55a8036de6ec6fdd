// Serves a client without a resident, in another process.
import { spawn } from 'node:child_process'

/** An input that has ended cannot be read again in this process. */
export function serveInChild(read: Buffer): void {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...process.env, MCP_BRIDGE_RESIDENT: 'off' },
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  child.stdin.on('error', () => {}).end(read)
  child.once('error', () => process.exit(1))
  child.once('exit', (code) => process.exit(code ?? 1))
}
