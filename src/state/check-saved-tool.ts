// Finds out whether a saved tool loads: imports it in a sandbox that no session has touched, and ends that sandbox.
import { BridgeError } from '../errors.ts'
import type { CallHandler } from '../kernel/open-calls.ts'
import type { KernelPool } from '../session/kernel-pool.ts'
import { SAVED_TOOLS_MODULE, type SavedToolContent } from './saved-tool.ts'
import type { SavedToolStore } from './saved-tool-store.ts'

const CHECK_TIMEOUT_MS = 15_000

/** @throws BridgeError STATE_REFUSED with what Python said, and what KernelPool.take throws */
export async function checkSavedTool(
  pool: KernelPool,
  store: SavedToolStore,
  content: SavedToolContent,
): Promise<void> {
  const kernel = await pool.take()
  const timer = setTimeout(() => void kernel.dispose(), CHECK_TIMEOUT_MS)
  try {
    const done = await kernel.run({
      // The name is a plain identifier: see TOOL_NAME.
      code: `from ${SAVED_TOOLS_MODULE} import ${content.name}`,
      servers: [],
      observer: { onOutput: () => {}, onDisplay: () => {}, onCall: onlySavedTools(store, content) },
    })
    if (done.status === 'ok') return
    throw notLoaded(content, done.error?.message || (done.error?.name ?? done.status))
  } catch (error) {
    if (!BridgeError.isInstance(error) || error.code !== 'KERNEL_DIED') throw error
    throw notLoaded(content, `the sandbox ended, or it took longer than ${CHECK_TIMEOUT_MS / 1000} s`)
  } finally {
    clearTimeout(timer)
    await kernel.dispose()
  }
}

/** While a tool is loaded it may import other saved tools, and ask for nothing else. */
function onlySavedTools(store: SavedToolStore, candidate: SavedToolContent): CallHandler {
  return async ({ method, params }) => {
    const name = method === 'load_saved_tool' && isNamed(params) ? params.name : undefined
    if (name === undefined)
      throw new BridgeError('STATE_REFUSED', 'A saved tool may not call anything while it is imported')
    return name === candidate.name ? { ...candidate, version: 0 } : store.find(name)
  }
}

function isNamed(params: unknown): params is { name: string } {
  return typeof params === 'object' && params !== null && 'name' in params && typeof params.name === 'string'
}

function notLoaded({ name }: SavedToolContent, reason: string): BridgeError {
  return new BridgeError(
    'STATE_REFUSED',
    `'${name}' was not saved, because a fresh sandbox cannot load it: ${reason.slice(0, 2_000)}`,
    {
      hint: 'Import what it needs inside the function or at the top of a cell, and save it again.',
    },
  )
}
