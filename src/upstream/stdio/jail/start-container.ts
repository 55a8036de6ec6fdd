// Starts a server in a container, and ensures that the container is removed when the server or the bridge has ended.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { runCommand } from '../../../process/run-command.ts'
import { newContainerName, ownerLabels } from '../../../sandbox/container/owner.ts'
import { containerArguments, engineEnvironment } from './container-jail.ts'
import type { JailMaker } from './jail-maker.ts'
import { makeNothing } from './nothing.ts'
import type { Jail, JailStart } from './open-jail.ts'

const REMOVE_TIMEOUT_MS = 15_000
/** Arguments: a folder to delete, and the command that removes the container. Retried later: a container can only be removed once it exists. */
const SCRIPT = `
folder=$1; shift
read -r _ && exit 0
"$@"; rm -rf -- "$folder"; sleep 3; "$@"; sleep 10; "$@"
`

/** @param folder the jail's own folder, which is deleted with it */
export async function startContainer(
  { container }: JailMaker & { name: 'podman' | 'docker' },
  start: JailStart,
  folder: string,
): Promise<Jail> {
  const name = newContainerName()
  const { command } = container.engine
  const args = containerArguments(
    container,
    {
      ...start,
      name,
      labels: ownerLabels(name),
      nothing: await makeNothing(folder),
      submounts: await writableMountPoints(),
    },
    start.command,
  )
  const removal = ['rm', '--force', '--volumes', name]
  const watchdog = watchContainer([command, ...removal], folder)
  return {
    launch: { command, args, env: engineEnvironment(start.environment) },
    release: async () => {
      await runCommand(command, removal, { timeoutMs: REMOVE_TIMEOUT_MS })
      watchdog.dismiss()
    },
  }
}

/**
 * The writable mount points of this machine; empty without /proc. An engine that mounts a folder read-only does not change mounts
 * inside it.
 */
async function writableMountPoints(): Promise<string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  return table
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , , , point, options]) => point?.startsWith('/') && options?.split(',').includes('rw'))
    .map(([, , , , point = '']) =>
      point.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))),
    )
}

/**
 * Removes a container when the bridge is gone, however it ended: a shell waits for its stdin to close. The engine would keep a container alive
 * whose server does not exit when stdin closes. `dismiss` ends the shell after the bridge itself has removed the container.
 */
function watchContainer(removal: readonly string[], folder: string): { dismiss(): void } {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', folder, ...removal], {
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
  return { dismiss: () => void child.stdin.end('done\n') }
}
