// Checks that saved tools load, by importing them in a fresh sandbox, which is then disposed of.
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { CallHandler, Kernel } from '@sandbridge/core/cell'
import { SAVED_TOOLS_MODULE, type SavedTool, type SavedToolContent } from './saved-tool.ts'
import type { SavedToolStore } from './saved-tool-store.ts'

const CHECK_TIMEOUT_MS = 15_000
const MAX_PROBLEM_CHARS = 2_000

/** @throws BridgeError STATE_REFUSED with Python's error, and what KernelPool.take throws */
export async function checkSavedTool(
  takeKernel: () => Promise<Kernel>,
  store: SavedToolStore,
  content: SavedToolContent,
): Promise<void> {
  const kernel = await takeKernel()
  try {
    const problem = await problemIn(kernel, store, content)
    if (problem === undefined) return
    throw new BridgeError(
      'STATE_REFUSED',
      `'${content.name}' was not saved: a fresh sandbox cannot load it: ${problem.text}`,
      { hint: 'Put its imports inside the function or at the top of a cell, then save it again.' },
    )
  } finally {
    await kernel.dispose()
  }
}

/**
 * The problem of each tool by name; undefined if it loads. Those left over when the time is up are missing.
 * @throws BridgeError as KernelPool.take does
 */
export async function findProblems(
  takeKernel: () => Promise<Kernel>,
  store: SavedToolStore,
  tools: SavedTool[],
): Promise<Map<string, string | undefined>> {
  const problems = new Map<string, string | undefined>()
  const startedAt = performance.now()
  let kernel: Kernel | undefined
  try {
    for (const tool of tools) {
      if (performance.now() - startedAt > CHECK_TIMEOUT_MS) break
      kernel ??= await takeKernel()
      const problem = await problemIn(kernel, store, tool)
      problems.set(tool.name, problem && `it cannot be loaded: ${problem.text}`)
      if (problem?.ended) kernel = undefined
    }
    return problems
  } finally {
    await kernel?.dispose()
  }
}

async function problemIn(
  kernel: Kernel,
  store: SavedToolStore,
  content: SavedToolContent,
): Promise<{ text: string; ended: boolean } | undefined> {
  const timer = setTimeout(() => void kernel.dispose(), CHECK_TIMEOUT_MS)
  try {
    const done = await kernel.run({
      // The name is a plain identifier: see TOOL_NAME.
      code: `from ${SAVED_TOOLS_MODULE} import ${content.name}`,
      servers: [],
      observer: { onOutput: () => {}, onDisplay: () => {}, onCall: onlySavedTools(store, content) },
    })
    if (done.status === 'ok') return undefined
    const text = done.error?.message || (done.error?.name ?? done.status)
    return { text: text.slice(0, MAX_PROBLEM_CHARS), ended: false }
  } catch (error) {
    if (!BridgeError.isInstance(error) || error.code !== 'KERNEL_DIED') throw error
    return { text: `the sandbox ended, or it took longer than ${CHECK_TIMEOUT_MS / 1000} s`, ended: true }
  } finally {
    clearTimeout(timer)
  }
}

/** While it loads, a tool may import other saved tools. Any other call fails. */
function onlySavedTools(store: SavedToolStore, candidate: SavedToolContent): CallHandler {
  return async ({ method, params }) => {
    const name = method === 'load_saved_tool' && isNamed(params) ? params.name : undefined
    if (name === undefined)
      throw new BridgeError('STATE_REFUSED', 'A saved tool must not make calls while it is imported')
    return name === candidate.name ? { ...candidate, version: 0 } : store.find(name)
  }
}

function isNamed(params: unknown): params is { name: string } {
  return typeof params === 'object' && params !== null && 'name' in params && typeof params.name === 'string'
}
