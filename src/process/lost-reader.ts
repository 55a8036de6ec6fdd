// What becomes of a command whose output nobody reads any more, as in `sandbridge artifacts | head -1`: it ends quietly, as other programs do.

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
  // Messages are for whoever is there to read them; the work goes on.
  process.stderr.on('error', () => {})
}
