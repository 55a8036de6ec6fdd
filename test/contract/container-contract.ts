// The provider contract for a container engine, with the engine itself as the witness of what is left.
import { runCommand } from '../../src/process/run-command.ts'
import { runningProcesses } from '../support/processes.ts'
import { makeProvider } from '../support/engines.ts'
import type { Differences } from './provider-accidents.ts'
import { testProvider } from './provider-contract.ts'

/** @param isPiped frames go through the engine, as they do where it runs elsewhere */
export function testContainerProvider(engine: 'podman' | 'docker', isPiped = false): void {
  const differences: Differences = {
    isVariant: isPiped,
    isLeft: async (id) => {
      const { stdout } = await runCommand(engine, ['ps', '--all', '--quiet', '--filter', `name=${id}`])
      return stdout !== ''
    },
    // The engine's command dies in the middle of a cell: the container has lost its bridge, the bridge its container.
    killFromOutside: async ({ id }) => {
      for (const { pid, command } of runningProcesses()) {
        if (command.includes(`--name ${id} `) && /\b(podman|docker) run /.test(command)) process.kill(pid, 'SIGKILL')
      }
    },
  }
  testProvider(engine, differences, makeProvider(isPiped ? `${engine}-pipe` : engine))
}
