// Starts a server in a container, and sees to it that nothing of the container is left when the server or the bridge has ended.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { runCommand } from '../../../process/run-command.ts'
import { newContainerName, ownerLabels } from '../../../sandbox/container/owner.ts'
import { containerArguments, engineEnvironment } from './container-jail.ts'
import type { JailMaker } from './jail-maker.ts'
import { makeNothing } from './nothing.ts'
import type { Jail, JailStart } from './open-jail.ts'

const REMOVE_TIMEOUT_MS = 15_000
/** Arguments: a folder that goes, too, and the command. Again later: a container can only be removed when it is made. */
const SCRIPT = `
folder=$1; shift
read -r _ && exit 0
"$@"; rm -rf -- "$folder"; sleep 3; "$@"; sleep 10; "$@"
`

/** @param folder a folder of the jail's own, which goes with it */
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
 * Mount points of this machine, without those that are read-only; empty where there is no /proc. An engine that mounts a folder
 * read-only leaves those inside it as they are.
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
 * Removes a container when the bridge is gone, however it ended: a shell waits for the other end of its stdin to close. The engine keeps a
 * container alive whose server does not end with its stdin. `dismiss` ends the shell once the bridge has removed the container itself.
 */
function watchContainer(removal: readonly string[], folder: string): { dismiss(): void } {
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
