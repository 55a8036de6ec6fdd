// The entry of the bundle for what a user types: what packages/sandbridge/src/cli.ts does without a resident, with an
// end that the host can wait for. A real process ends when nothing is left to do, which nobody sees in one that plays
// several.
import { main } from '../../../../src/serve/cli/program.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { endWithoutReader } from '../../../../src/util/process/lost-reader.ts'

endWithoutReader()
/** Fulfilled when the command has done its work. What it has left open may still run. */
export const done = main(PACKAGES)
