#!/usr/bin/env node
// Entry point. It is built in the syntax of 2015, which Node 10 reads, too, and uses nothing that an old Node lacks.
import { fillGaps } from './fill-gaps.ts'
import { refuse } from './refuse.ts'
import { whyUnsupported } from './supported.ts'

const why = whyUnsupported(process)
if (why === undefined) {
  fillGaps()
  void import('./main.ts')
} else refuse(why)
