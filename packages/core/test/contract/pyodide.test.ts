// @module-tag whole: nearly each promise of an embedded sandbox costs one; journeys run in it where there is no Python
import type { Provider } from '../../src/isolation/provider.ts'
import { StdioProcess } from '../../src/isolation/local/stdio-process.ts'
import { makeProvider } from '../support/sandboxes/engines.ts'
import { runningProcesses } from '../support/machine/processes.ts'
import { isAlive } from '../support/bridges/resident-clients.ts'
import { testProvider } from './provider-contract.ts'

const pyodide = makeProvider('pyodide')
/** Process groups by sandbox: the list of processes does not contain the id. */
const groups = new Map<string, number>()

const recorded: Provider = {
  name: 'pyodide',
  prepare: (onProgress) => pyodide.prepare(onProgress),
  start: async (limits) => {
    const sandbox = await pyodide.start(limits)
    if (sandbox instanceof StdioProcess && sandbox.pid !== undefined) groups.set(sandbox.id, sandbox.pid)
    return sandbox
  },
}

testProvider(
  'pyodide',
  {
    // Windows has no groups.
    isLeft: async (id) =>
      process.platform === 'win32'
        ? isAlive(groups.get(id)!)
        : runningProcesses().some(({ group }) => group === groups.get(id)),
    killFromOutside: async ({ id }) => void process.kill(-groups.get(id)!, 'SIGKILL'),
  },
  recorded,
)
