#!/usr/bin/env node
// Entry point. Loads everything else, and reuses compiled code of earlier starts.
import { keepCompiledCode } from './commands/compile-cache.ts'
import { endWithoutReader } from './process/lost-reader.ts'

endWithoutReader()
keepCompiledCode()
void import('./commands/program.ts').then(({ main }) => main())
