import { runningProcesses } from '../support/processes.ts'
import { testProvider } from './provider-contract.ts'

const processesOf = (id: string) => runningProcesses().filter(({ command }) => command.includes(`id=${id} `))

testProvider('bubblewrap', {
  isLeft: async (id) => processesOf(id).length > 0,
  killFromOutside: async ({ id }) => {
    for (const { pid } of processesOf(id)) process.kill(pid, 'SIGKILL')
  },
})
