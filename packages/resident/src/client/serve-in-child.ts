// Serves a client without a resident, in another process.
import { spawn } from 'node:child_process'
import { ownScript } from '@sandbridge/core/util'
import { createLineSplitter } from '@sandbridge/core/util/bytes'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import type { TakenInput } from './relay.ts'
import { SAYS_ON_OR_OFF } from '../wants-resident.ts'

const MAX_LINE_BYTES = 2 ** 29

/**
 * For input that has ended, which cannot be read again in this process, and for clients that have been told answers,
 * which they must not get twice.
 */
export function serveInChild({ read, isOver, told }: TakenInput): void {
  const { MCP_BRIDGE_RESIDENT = '' } = process.env
  const child = spawn(process.execPath, [...process.execArgv, ownScript(), ...process.argv.slice(2)], {
    // A mistake in it is told there.
    env: {
      ...process.env,
      MCP_BRIDGE_RESIDENT: `off ${MCP_BRIDGE_RESIDENT.replaceAll(/["']/g, '').replace(SAYS_ON_OR_OFF, '')}`,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
    windowsHide: true,
  })
  child.stdin.on('error', () => {}).write(read)
  if (isOver) child.stdin.end()
  else process.stdin.pipe(child.stdin)
  const left = new Set(told)
  const lines = createLineSplitter({
    maxBytes: MAX_LINE_BYTES,
    onLine: (line) => {
      if (left.size > 0 && left.delete(answeredBy(line))) return
      if (process.stdout.write(Buffer.concat([line, Buffer.from('\n')])) || child.stdout.isPaused()) return
      child.stdout.pause()
      process.stdout.once('drain', () => child.stdout.resume())
    },
    onTooLong: () => child.kill(),
  })
  child.stdout.on('data', (chunk: Buffer) => lines.push(chunk))
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.once('error', () => process.exit(1))
  child.once('close', (code) => process.exit(code ?? 1))
}

/** The id of the request, as JSON; empty for anything else. */
function answeredBy(line: Buffer): string {
  const message: unknown = JSON.parse(line.toString())
  return isRecord(message) && !('method' in message) ? JSON.stringify(message['id']) : ''
}
