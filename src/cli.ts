#!/usr/bin/env node
// Entry point. Loads everything else, and reuses compiled code of earlier starts.
import { keepCompiledCode } from './cli/compile-cache.ts'
import { residentRole } from './cli/serve/wants-resident.ts'

/** The shell's code for SIGPIPE: 128 + its number. */
const EXIT_CODE = 141

endWithoutReader()
const command = async (): Promise<void> => {
  keepCompiledCode()
  const [{ main }, { FEATURES }] = await Promise.all([import('./cli/program.ts'), import('./features.ts')])
  await main(FEATURES)
}
// What talks to a resident bridge loads next to nothing: finding its compiled code would take longer than compiling it.
const role = residentRole()
if (role === 'relay') void import('./cli/serve/relay.ts').then(({ relay }) => relay(command))
else if (role === 'command')
  void import('./cli/serve/command-client.ts').then(({ runInResident }) => runInResident(command))
else void command()

/** Call before anything is written, for every command. */
function endWithoutReader(): void {
  process.stdout.on('error', () => {
    // `run` handles this error itself.
    if (process.stdout.listenerCount('error') > 1) return
    // Stop what the command started, as on a signal.
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(EXIT_CODE)
  })
  // A closed stderr does not end the command.
  process.stderr.on('error', () => {})
}
