// One way out: when the client closes our stdin, or a signal asks us to, end what we started and leave; after a limit, leave all the same.

/** How long ending everything may take. A client waits about this long before it kills us. */
const LIMIT_MS = 2_500

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

interface ShutdownOptions {
  watchStdin?: boolean
  signals?: Signal[]
  /** On SIGTERM, this comes first, however long it takes. The next signal does not wait for it. */
  drain?: () => Promise<void>
}

/** Calls `end` once, on whichever comes first, then exits: 0 when stdin closed, 128 + the signal's number otherwise. */
export function onShutdown(
  end: () => Promise<void>,
  { watchStdin = true, signals = ['SIGINT', 'SIGTERM', 'SIGHUP'], drain }: ShutdownOptions = {},
): void {
  let ending = false
  const shutDown = async (exitCode: number) => {
    if (ending) return
    ending = true
    setTimeout(() => process.exit(exitCode), LIMIT_MS).unref()
    try {
      await end()
    } finally {
      process.exit(exitCode)
    }
  }
  let draining = false
  const onSignal = async (signal: Signal) => {
    if (signal === 'SIGTERM' && drain && !draining) {
      draining = true
      await drain()
    }
    await shutDown(SIGNAL_EXIT_CODES[signal])
  }
  for (const signal of signals) process.on(signal, () => void onSignal(signal))
  if (!watchStdin) return
  process.stdin.on('end', () => void shutDown(0))
  process.stdin.on('close', () => void shutDown(0))
  // A client that is gone also shows as a broken pipe on the next answer.
  process.stdout.on('error', () => void shutDown(0))
}

const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }
