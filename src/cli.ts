#!/usr/bin/env node
// Entry point. Loads everything else, and reuses compiled code of earlier starts.
import { keepCompiledCode } from './cli/compile-cache.ts'
import { endWithoutReader } from './util/process/lost-reader.ts'

endWithoutReader()
keepCompiledCode()
void Promise.all([import('./cli/program.ts'), import('./features.ts')]).then(([{ main }, { FEATURES }]) =>
  main(FEATURES),
)
