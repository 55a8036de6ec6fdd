// Shuts down when stdin closes or a signal arrives: ends what it started, then exits, at the latest after a limit.

/** Time limit for the shutdown. A client waits about this long before it kills the bridge. */
export const SHUTDOWN_LIMIT_MS = 2_500

/** Each with the exit code of a process that ended because of it: 128 + its number. */
export const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** A signal that ends a process. */
export type EndSignal = keyof typeof SIGNAL_EXIT_CODES

interface ShutdownOptions {
  /** Called when stdin closes; resolves to the exit code. Missing: stdin is not watched. */
  inputOver?: () => Promise<number>
  signals?: EndSignal[]
  /** On SIGTERM, awaited before the shutdown, however long it takes. A second signal does not wait for it. */
  drain?: () => Promise<void>
}

/**
 * Calls `end` once, at the first event, then exits: if stdin closed with its code, else 128 + the signal's number.
 * @returns what shuts down for another reason, with the given exit code
 */
export function onShutdown(
  end: () => Promise<void>,
  { inputOver, signals = ['SIGINT', 'SIGTERM', 'SIGHUP'], drain }: ShutdownOptions = {},
): (exitCode: number) => Promise<void> {
  let ending = false
  const shutDown = async (code: number) => {
    if (ending) return
    ending = true
    setTimeout(() => process.exit(code), SHUTDOWN_LIMIT_MS).unref()
    try {
      await end()
    } finally {
      process.exit(code)
    }
  }
  let draining = false
  const onSignal = async (signal: EndSignal) => {
    if (signal === 'SIGTERM' && drain && !draining) {
      draining = true
      await drain()
    }
    await shutDown(SIGNAL_EXIT_CODES[signal])
  }
  for (const signal of signals) process.on(signal, () => void onSignal(signal))
  if (!inputOver) return shutDown
  for (const event of ['end', 'close']) process.stdin.on(event, () => void inputOver().then(shutDown))
  // A client that is gone can also show as a broken pipe at the next write.
  process.stdout.on('error', () => void shutDown(0))
  return shutDown
}
