// Runs the attacks against the embedded sandbox.
import { PyodideProvider } from '../../src/isolation/pyodide/provider.ts'
import { runAttacks } from './run-attacks.ts'
import { SANDBOX_CACHE } from '../support/sandboxes/sandbox-cache.ts'

runAttacks({
  name: 'pyodide',
  memoryBytes: 384 << 20,
  open: async () => {
    const provider = new PyodideProvider({ cacheFolder: SANDBOX_CACHE })
    await provider.prepare()
    return provider
  },
})
