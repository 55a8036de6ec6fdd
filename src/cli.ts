#!/usr/bin/env node
// Entry point. Loads everything else, and reuses compiled code of earlier starts.
import { residentRole } from './cli/serve/wants-resident.ts'
import { endWithoutReader } from './util/process/lost-reader.ts'

const command = async (): Promise<void> => {
  const { keepCompiledCode } = await import('./cli/compile-cache.ts')
  keepCompiledCode()
  const [{ main }, { FEATURES }] = await Promise.all([import('./cli/program.ts'), import('./features.ts')])
  await main(FEATURES)
}
// What talks to a resident bridge loads next to nothing: finding its compiled code would take longer than compiling it.
const role = residentRole()
// Opening the outputs takes time, in which a resident can work.
if (role !== 'command') endWithoutReader()
if (role === 'relay') void import('./cli/serve/relay.ts').then(({ relay }) => relay(command))
else if (role === 'command')
  void import('./cli/serve/command-client.ts').then(({ runInResident }) => runInResident(command))
else void command()
