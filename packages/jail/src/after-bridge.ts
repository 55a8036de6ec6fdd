// Cleans up for a bridge that was killed: a shell waits for its end, and then runs a script.
import { spawn } from 'node:child_process'

/** @returns a function that ends the shell, after the bridge itself has cleaned up */
export function afterBridge(script: string, args: readonly string[]): () => void {
  const child = spawn('/bin/sh', ['-c', `read -r _ && exit 0\n${script}`, 'sh', ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    // The script needs rm and sleep, even if they are not in the bridge's PATH.
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin` },
    // Ctrl-C in the bridge's terminal must not reach it.
    detached: true,
  })
  child.on('error', () => {})
  child.unref()
  child.stdin.on('error', () => {})
  return () => void child.stdin.end('done\n')
}
