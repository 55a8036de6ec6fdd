// Removes a container when the bridge is gone, however it went: a shell that waits for the other end of its stdin to close. The engine keeps a
// container alive whose server does not end with its stdin.
import { spawn } from 'node:child_process'

/** Arguments: a folder that goes, too, and the command. Again later: a container can only be removed when it is made. */
const SCRIPT = `
folder=$1; shift
read -r _ && exit 0
"$@"; rm -rf -- "$folder"; sleep 3; "$@"; sleep 10; "$@"
`

export interface Watchdog {
  /** The bridge has removed the container itself. */
  dismiss(): void
}

export function watchContainer(removal: readonly string[], folder: string): Watchdog {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', folder, ...removal], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    // The script needs rm and sleep, whatever the PATH of the bridge is.
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin` },
    // Ctrl-C in the bridge's terminal is not for it.
    detached: true,
  })
  child.on('error', () => {})
  child.unref()
  child.stdin.on('error', () => {})
  return { dismiss: () => void child.stdin.end('done\n') }
}
