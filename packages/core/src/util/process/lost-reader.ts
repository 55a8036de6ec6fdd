// Ends a command whose output can go nowhere: quietly when its reader closed the pipe, else with the cause.

/** The shell's code for SIGPIPE: 128 + its number. */
const EXIT_CODE = 141
/** A pipe whose reader is gone; the last two on Windows. */
const IS_CLOSED = new Set(['EPIPE', 'ECONNRESET', 'EOF'])

/** Call before anything is written, for every command. */
export function endWithoutReader(): void {
  let isTold = false
  process.stdout.on('error', ({ code = '', message }: NodeJS.ErrnoException) => {
    if (!IS_CLOSED.has(code) && !isTold) {
      isTold = true
      process.stderr.write(`sandbridge: the output cannot be written: ${message}\n`)
      // Whatever ends the process.
      process.on('exit', () => (process.exitCode = 1))
    }
    // `run` handles this error itself.
    if (process.stdout.listenerCount('error') > 1) return
    if (IS_CLOSED.has(code)) {
      // As of a program that ends by SIGPIPE: nothing is said of its end.
      process.stderr.write = () => true
      process.on('exit', () => (process.exitCode = EXIT_CODE))
    }
    // Stop what the command started, as on a signal.
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(EXIT_CODE)
  })
  // A closed stderr does not end the command.
  process.stderr.on('error', () => {})
}
