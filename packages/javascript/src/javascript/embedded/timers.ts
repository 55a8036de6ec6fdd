// Timers of cells. The kernel keeps the time: it learns when the next timer is due, and sends a tick.

interface Timer {
  callback: (...args: unknown[]) => void
  args: unknown[]
  dueMs: number
  everyMs: number | undefined
}

const open = new Map<number, Timer>()
let count = 0
let wakeAfter: (ms: number) => void = () => {}

export function watchTimers(wake: (ms: number) => void): void {
  wakeAfter = wake
  Object.assign(globalThis, {
    setTimeout: (callback: Timer['callback'], ms?: unknown, ...args: unknown[]) => add(callback, ms, args, false),
    setInterval: (callback: Timer['callback'], ms?: unknown, ...args: unknown[]) => add(callback, ms, args, true),
    setImmediate: (callback: Timer['callback'], ...args: unknown[]) => add(callback, 0, args, false),
    clearTimeout: end,
    clearInterval: end,
    clearImmediate: end,
  })
}

function add(callback: Timer['callback'], ms: unknown, args: unknown[], again: boolean): number {
  if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function')
  const after = Math.max(0, Number(ms) || 0)
  open.set((count += 1), { callback, args, dueMs: Date.now() + after, everyMs: again ? Math.max(1, after) : undefined })
  wakeAfter(after)
  return count
}

function end(id: unknown): void {
  open.delete(Number(id))
}

/** Run the timers that are due, and announce the next one. */
export function fireTimers(onError: (error: unknown) => void): void {
  const now = Date.now()
  const due = [...open].filter(([, { dueMs }]) => dueMs <= now).toSorted(([, a], [, b]) => a.dueMs - b.dueMs)
  for (const [id, timer] of due) {
    if (open.get(id) !== timer) continue
    if (timer.everyMs === undefined) open.delete(id)
    else timer.dueMs = now + timer.everyMs
    try {
      timer.callback(...timer.args)
    } catch (error) {
      onError(error)
    }
  }
  const next = Math.min(...[...open.values()].map(({ dueMs }) => dueMs))
  if (next !== Infinity) wakeAfter(Math.max(0, next - Date.now()))
}

/** Ends the remaining timers. @returns their number */
export function endTimers(): number {
  const left = open.size
  open.clear()
  return left
}
