#!/usr/bin/env node
// Entry point. Loads everything else, and reuses compiled code of earlier starts.
import { keepCompiledCode } from './cli/compile-cache.ts'
import { endWithoutReader } from './util/process/lost-reader.ts'

endWithoutReader()
keepCompiledCode()
void import('./cli/program.ts').then(({ main }) => main())
