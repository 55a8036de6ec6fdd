// The time of a tool call from a cell, for bridges that are measured in turns.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'

const CALLS = 100
/** The record's work after a cell must not fall into the other bridge's measurement. */
export const PAUSE_MS = 250
/** Has names and a number, as masking and the origins of values look for. */
export const CALL = 'await mcp_everything.echo(message="Order 18231 of Ann Smith, to be sent on Friday.")'

/** Runs the call so many times first, which the measurement needs. */
export async function warmUp(bridge: TestBridge, calls: number): Promise<void> {
  await bridge.run(`import time\nfor _ in range(${calls}): ${CALL}`)
}

/** @returns microseconds for a hundred calls */
export async function loopOf(bridge: TestBridge): Promise<number> {
  const text = await bridge.run(
    `_t = time.perf_counter()\nfor _ in range(${CALLS}): ${CALL}\nprint((time.perf_counter() - _t) * 1e6)`,
  )
  if (!Number.isFinite(Number(text))) throw new Error(`the calls failed: ${text}`)
  await sleep(PAUSE_MS)
  return Number(text)
}
