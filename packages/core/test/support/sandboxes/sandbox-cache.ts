// Where all tests find the embedded Python, which takes seconds to prepare. Tests of the preparation have folders of
// their own.
import { fileURLToPath } from 'node:url'

export const SANDBOX_CACHE = fileURLToPath(new URL('../../../../../.cache/test/pyodide', import.meta.url))
