// The outer layer around the process of the embedded sandbox: the strongest one whose trial run succeeds here.
import { messageOf } from '../../errors.ts'
import { lastLine } from '../../util/text/one-line.ts'
import { findBubblewrapPrograms } from '../local/find-bubblewrap.ts'
import { bubblewrapLayer, type OuterLayer } from './outer-bubblewrap.ts'
import { weakerLayers } from './outer-unshare.ts'
import { spawnSandbox } from './spawn-sandbox.ts'

const TRY_TIMEOUT_MS = 10_000

/**
 * Returns bubblewrap as the outer layer if it works here, else what is left. Never throws.
 * @param found replaced in tests
 * @param weaker replaced in tests
 */
export async function findOuterLayer(
  node: string,
  bundle: string,
  found = findBubblewrapPrograms(),
  weaker: typeof weakerLayers = weakerLayers,
): Promise<OuterLayer> {
  let reason = typeof found === 'string' ? found : ''
  for (const programs of typeof found === 'string' ? [] : found) {
    try {
      return await tried(await bubblewrapLayer(programs, node, bundle))
    } catch (error) {
      reason ||= `a trial run of bubblewrap failed: ${lastLine(messageOf(error)) ?? 'no output'}`
    }
  }
  const layers = weaker(node, bundle, reason)
  const last = layers.pop()!
  for (const layer of layers) {
    const works = await tried(layer).catch(() => undefined)
    if (works) return works
  }
  return last
}

/** Runs Node once inside the layer, and has it look into the bundle. @throws Error why that failed */
async function tried(layer: OuterLayer): Promise<OuterLayer> {
  const script = `require('fs').readFileSync(${JSON.stringify(`${layer.bundle}/child.cjs`)});process.stdout.write('through')`
  const attempt = spawnSandbox(layer.wrap([layer.node, '--no-warnings', '-e', script]))
  const timer = setTimeout(() => void attempt.dispose(), TRY_TIMEOUT_MS)
  let said = ''
  for await (const chunk of attempt.stdout) said += String(chunk)
  const exit = await attempt.exited
  clearTimeout(timer)
  if (said !== 'through') throw new Error(exit.detail || `it exited with ${exit.signal ?? exit.code}`)
  return layer
}
