// Starts a server in a container, and ensures that the container is removed when the server or the bridge has ended.
import { readFile } from 'node:fs/promises'
import { runCommand } from '@sandbridge/core/util/process'
import { newContainerName, ownerLabels } from '@sandbridge/containers/owner.ts'
import { afterBridge } from '../after-bridge.ts'
import { containerArguments, engineEnvironment } from './container-jail.ts'
import type { JailMaker } from '../jail-maker.ts'
import { makeNothing } from '../places/nothing.ts'
import type { Jail } from '@sandbridge/core/parts'
import type { JailStart } from '../places/view.ts'

const REMOVE_TIMEOUT_MS = 15_000
/**
 * Arguments: a folder to delete, and the command that removes the container. Retried later: a container can only be
 * removed once it exists. The engine would keep a container alive whose server does not exit when stdin closes.
 */
const SCRIPT = `
folder=$1; shift
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
  const dismiss = afterBridge(SCRIPT, [folder, command, ...removal])
  return {
    launch: { command, args, env: engineEnvironment(start.environment) },
    release: async () => {
      await runCommand(command, removal, { timeoutMs: REMOVE_TIMEOUT_MS })
      dismiss()
    },
  }
}

/**
 * The writable mount points of this machine; empty without /proc. An engine that mounts a folder read-only does not
 * change mounts inside it.
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
