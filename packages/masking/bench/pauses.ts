// Rows of pauses by masking.
import { createMaskers } from '@sandbridge/masking/part.ts'
import { MASK_KINDS } from '../../core/src/config/settings/sandbox.ts'
import { pauseRows } from '../../../bench/pauses.ts'
import type { BenchRow } from '../../../bench/row.ts'

export default function maskingPauses(): Promise<BenchRow[]> {
  return pauseRows({
    'masking of 16 MB of `password=hunter22xx`': () => masking('password=hunter22xx\n'.repeat(800_000)),
    'masking of 4 MB of escapes': () => masking(String.raw`\n\u0041\x41`.repeat(333_000)),
    'masking of 4 MB of JSON in JSON': () =>
      masking(JSON.stringify(JSON.stringify(Array.from({ length: 70_000 }, (_, at) => `a\n"${at}@x.example"`)))),
  })
}

function masking(text: string): () => Promise<unknown> {
  const masker = createMaskers({ kinds: MASK_KINDS }).of({})
  return () => masker.masked((mask) => mask(text))
}
