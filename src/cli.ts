#!/usr/bin/env node
// Entry point. Loads everything else, and reuses compiled code of earlier starts.
import { TAKE_OVERS } from './features/first.ts'
import { endWithoutReader } from './util/process/lost-reader.ts'

const command = async (): Promise<void> => {
  const { keepCompiledCode } = await import('./cli/compile-cache.ts')
  keepCompiledCode()
  const [{ main }, { FEATURES }] = await Promise.all([import('./cli/program.ts'), import('./features.ts')])
  await main(FEATURES)
}
// Finding compiled code would take longer than compiling the little that these load.
const takeOver = TAKE_OVERS.map((ask) => ask()).find((found) => found !== undefined)
if (takeOver) void takeOver(command)
else {
  endWithoutReader()
  void command()
}
