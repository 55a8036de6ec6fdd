// Fuzzes frames from a kernel: an invalid line affects no other line.
import { readFileSync } from 'node:fs'
import { FrameDecoder } from '../../packages/core/src/cell/protocol/codec.ts'
import type { KernelFrame } from '../../packages/core/src/cell/protocol/frames.ts'
import { assertHolds, assertUnpolluted, type Family } from './family.ts'

const fixtures = JSON.parse(
  readFileSync(new URL('../../packages/core/test/fixtures/frames.json', import.meta.url), 'utf8'),
) as {
  valid: Record<string, object[]>
}

const AFTER = Buffer.from('\n{"type":"output","cell":1,"stream":"stdout","text":"after"}\n')

export const frames: Family = {
  name: 'frames',
  seeds: Object.values(fixtures.valid)
    .flat()
    .map((frame) => Buffer.from(JSON.stringify(frame))),
  shortRuns: 3_000,
  attempt(input) {
    const seen: KernelFrame[] = []
    const decoder = new FrameDecoder({ onFrame: (frame) => seen.push(frame), onMalformed: () => {} })
    decoder.push(input)
    decoder.push(AFTER)
    const last = seen.at(-1)
    assertHolds(last?.type === 'output' && last.text === 'after', 'a frame after a malformed line is read')
    assertUnpolluted()
  },
}
