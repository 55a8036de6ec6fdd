// The provider contract for bubblewrap; the list of processes shows what is left.
import { runningProcesses } from '@sandbridge/core/test/support/machine/processes.ts'
import { OF_ENGINES } from '@sandbridge/core/test/contract/provider-accidents.ts'
import { testProvider } from '@sandbridge/core/test/contract/provider-contract.ts'

const processesOf = (id: string) => runningProcesses().filter(({ command }) => command.includes(`id=${id} `))

export function testBubblewrap(name: 'bubblewrap' | 'bubblewrap-image' | 'bubblewrap-fork'): void {
  testProvider(name, {
    // Users have forked sandboxes, of this machine's system.
    ...(name !== 'bubblewrap-fork' && { briefly: OF_ENGINES }),
    isLeft: async (id) => processesOf(id).length > 0,
    killFromOutside: async ({ id }) => {
      for (const { pid } of processesOf(id)) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // It has ended together with the previous one.
        }
      }
    },
  })
}
