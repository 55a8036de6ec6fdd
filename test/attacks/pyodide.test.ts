// Runs the attacks against the embedded sandbox.
import { PyodideProvider } from '../../src/sandbox/pyodide/provider.ts'
import { runAttacks } from './run-attacks.ts'
import { testCacheFolder } from './pyodide-cache.ts'

runAttacks({
  name: 'pyodide',
  memoryBytes: 384 << 20,
  open: async () => {
    const provider = new PyodideProvider({ cacheFolder: testCacheFolder() })
    await provider.prepare()
    return provider
  },
})
