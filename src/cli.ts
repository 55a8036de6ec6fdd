#!/usr/bin/env node
// Entry point. Loads everything else, and reuses compiled code of earlier starts.
import { keepCompiledCode } from './cli/compile-cache.ts'
import { wantsResident } from './cli/serve/wants-resident.ts'
import { endWithoutReader } from './util/process/lost-reader.ts'

endWithoutReader()
keepCompiledCode()
const command = async (): Promise<void> => {
  const [{ main }, { FEATURES }] = await Promise.all([import('./cli/program.ts'), import('./features.ts')])
  await main(FEATURES)
}
// A relay to a resident bridge loads next to nothing.
if (wantsResident()) void import('./cli/serve/relay.ts').then(({ relay }) => relay(command))
else void command()
