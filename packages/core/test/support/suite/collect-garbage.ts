// Collects garbage now, for tests that measure what stays in memory.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  // What callbacks of the first collection release is freed by the second.
  await new Promise((resolve) => setImmediate(resolve))
  collect()
}
