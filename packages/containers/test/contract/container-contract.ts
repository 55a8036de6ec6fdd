// The provider contract for a container engine; the engine itself shows what is left.
import { runCommand } from '../../../core/src/util/process/run-command.ts'
import { runningProcesses } from '@sandbridge/core/test/support/machine/processes.ts'
import { makeProvider } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { type Differences, OF_ENGINES } from '@sandbridge/core/test/contract/provider-accidents.ts'
import { testProvider } from '@sandbridge/core/test/contract/provider-contract.ts'

/** What a pipe could change. */
const OF_PIPES =
  /becomes ready|cell to cell|share nothing|disposing|goes out|20 MB|flood|interrupt|too long|ended|killed|never/

/** @param isPiped frames go through the engine, as for an engine on another machine */
export function testContainerProvider(engine: 'podman' | 'docker', isPiped = false): void {
  const differences: Differences = {
    ...(isPiped && { isVariant: true, only: OF_PIPES }),
    ...(engine === 'docker' && !isPiped && { briefly: OF_ENGINES }),
    isLeft: async (id) => {
      const { stdout } = await runCommand(engine, ['ps', '--all', '--quiet', '--filter', `name=${id}`])
      return stdout !== ''
    },
    // Kill the engine's command in the middle of a cell: container and bridge lose each other.
    killFromOutside: async ({ id }) => {
      for (const { pid, command } of runningProcesses()) {
        if (command.includes(`--name ${id} `) && /\b(podman|docker) run /.test(command)) process.kill(pid, 'SIGKILL')
      }
    },
  }
  testProvider(engine, differences, makeProvider(isPiped ? `${engine}-pipe` : engine))
}
