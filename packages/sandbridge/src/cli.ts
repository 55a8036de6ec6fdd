#!/usr/bin/env node
// Entry point, one file with all that it uses. It is built in the syntax of 2015, which Node 10 reads, too, and uses
// nothing that an old Node lacks before it has looked at the version.
// Before all others, which may ask for the home as they are loaded.
// oxlint-disable-next-line import/no-unassigned-import
import '@sandbridge/core/util/files/own-home.ts'
import { fillGaps } from './fill-gaps.ts'
import { start } from './start.ts'
import { refuse } from './refuse.ts'
import { whyUnsupported } from './supported.ts'

/** Missing in the sources, which are ES modules. */
declare const require: Parameters<typeof fillGaps>[0] | undefined

const why = whyUnsupported(process)
if (why === undefined) {
  if (typeof process.getBuiltinModule !== 'function') fillGaps(require!)
  start(typeof require === 'undefined' ? undefined : require)
} else refuse(why)
