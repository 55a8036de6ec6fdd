// Ends a command quietly when the reader of its output has closed the pipe, as in `sandbridge artifacts | head -1`.

/** 128 + SIGPIPE, as a shell reports it. */
const EXIT_CODE = 141

/** Before anything is written, by whatever command. */
export function endWithoutReader(): void {
  process.stdout.on('error', () => {
    // `run` has its own way out.
    if (process.stdout.listenerCount('error') > 1) return
    // What a command has started is ended as at a signal.
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(EXIT_CODE)
  })
  // A closed stderr does not end the command.
  process.stderr.on('error', () => {})
}
