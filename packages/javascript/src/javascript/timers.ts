// Tracks the timers of cells, so that none outlives its cell.
import timers from 'node:timers'
import promises from 'node:timers/promises'
import util from 'node:util'

type Timer = NodeJS.Timeout | NodeJS.Immediate

const open = new Set<Timer>()
const setOnce = timers.setTimeout as (...args: any[]) => Timer

/** Replace Node's timer functions with versions that record their timers. */
export function watchTimers(): void {
  for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) {
    // An interrupt in an immediate would make Node search for the next one forever.
    const original =
      name === 'setImmediate'
        ? (callback: () => void, ...args: any[]) => setOnce(callback, 0, ...args)
        : (timers[name] as (...args: any[]) => Timer)
    const isOnce = name !== 'setInterval'
    const watched = (callback: (...args: unknown[]) => void, ...rest: unknown[]): Timer => {
      if (typeof callback !== 'function') return original(callback, ...rest)
      const timer: Timer = original(
        (...args: unknown[]) => {
          if (isOnce) open.delete(timer)
          callback(...args)
        },
        ...rest,
      )
      open.add(timer)
      return timer
    }
    const later = (...args: any[]) =>
      new Promise((resolve) => {
        const value = name === 'setImmediate' ? args[0] : args[1]
        watched(() => resolve(value), ...(name === 'setImmediate' ? [] : [args[0]]))
      })
    Object.defineProperty(watched, util.promisify.custom, { value: later })
    Object.assign(timers, { [name]: watched })
    Object.assign(globalThis, { [name]: watched })
    if (name !== 'setInterval') Object.assign(promises, { [name]: later })
  }
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate'] as const) {
    const original = timers[name] as (timer: any) => void
    const watched = (timer: any) => {
      open.delete(timer)
      original(timer)
    }
    Object.assign(timers, { [name]: watched })
    Object.assign(globalThis, { [name]: watched })
  }
}

/** Ends the remaining timers. @returns their number */
export function endTimers(): number {
  const count = open.size
  for (const timer of open) {
    timers.clearTimeout(timer as NodeJS.Timeout)
    timers.clearImmediate(timer as NodeJS.Immediate)
  }
  open.clear()
  return count
}
