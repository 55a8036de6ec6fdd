// Which functions of src/ ran and how often, counted by V8, including optimised and inlined calls.
import { Session } from 'node:inspector/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const SRC = path.join(import.meta.dirname, '../../../src/')

export interface RanFunction {
  /** V8's name: without the class, and with the `#` of private methods. */
  name: string
  /** Path below src/, with `/`. */
  file: string
  count: number
}

/** Runs `work`, and counts. */
export async function ranFunctions(work: () => Promise<void>): Promise<RanFunction[]> {
  const inspector = new Session()
  inspector.connect()
  await inspector.post('Profiler.enable')
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await inspector.post('Profiler.takePreciseCoverage')
  try {
    await work()
    const { result } = await inspector.post('Profiler.takePreciseCoverage')
    return result.flatMap(({ url, functions }) => {
      const file = path.normalize(url.startsWith('file:') ? fileURLToPath(url) : url)
      if (!file.startsWith(SRC)) return []
      return functions.map(({ functionName, ranges }) => {
        return { name: functionName, file: file.slice(SRC.length).replaceAll(path.sep, '/'), count: ranges[0]!.count }
      })
    })
  } finally {
    await inspector.post('Profiler.stopPreciseCoverage')
    inspector.disconnect()
  }
}
