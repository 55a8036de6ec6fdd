// Ends a command quietly when the reader of its output has closed the pipe, as in `sandbridge artifacts | head -1`.

/** The shell's code for SIGPIPE: 128 + its number. */
const EXIT_CODE = 141

/** Call before anything is written, for every command. */
export function endWithoutReader(): void {
  process.stdout.on('error', () => {
    // `run` handles this error itself.
    if (process.stdout.listenerCount('error') > 1) return
    // Stop what the command started, as on a signal.
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(EXIT_CODE)
  })
  // A closed stderr does not end the command.
  process.stderr.on('error', () => {})
}
