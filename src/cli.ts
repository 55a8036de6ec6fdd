#!/usr/bin/env node
// What starts: everything else is loaded from here on, compiled code of an earlier start included.
import { keepCompiledCode } from './commands/compile-cache.ts'
import { endWithoutReader } from './process/lost-reader.ts'

endWithoutReader()
keepCompiledCode()
void import('./commands/program.ts').then(({ main }) => main())
