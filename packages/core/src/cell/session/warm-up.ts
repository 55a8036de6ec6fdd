// Runs small cells in a waiting kernel, so that a session's first cell does not pay for first-time work.
import { BridgeError } from '../../errors.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { renderResult, withParts } from '../render/render-result.ts'
import { CellRun } from './cell-run.ts'

const CELLS = ['0', 'print(0)', "await __import__('asyncio').sleep(0)", '0/0']
const TIMEOUT_MS = 30_000

/** @param packages names of packages to import as well @throws BridgeError KERNEL_DIED, also on timeout */
export async function warmUp(
  kernel: Kernel,
  { packages = [], timeoutMs = TIMEOUT_MS }: { packages?: readonly string[]; timeoutMs?: number } = {},
): Promise<void> {
  const imports = `__import__('sandbridge_kernel.ahead').ahead.import_ahead(${JSON.stringify(packages)})`
  for (const code of packages.length > 0 ? [...CELLS, imports] : CELLS) {
    const request = { code, timeoutMs, servers: [], onCall: () => Promise.resolve(null) }
    const result = await new CellRun(kernel, request, { cell: 0 }).result()
    renderResult(withParts(result), { mode: 'compact', outputTokens: 1_000 })
    if (result.status !== 'ok' && result.status !== 'error') {
      await kernel.dispose()
      throw new BridgeError('KERNEL_DIED', `The sandbox could not run its first cell: ${result.notes.join(' ')}`)
    }
  }
}
