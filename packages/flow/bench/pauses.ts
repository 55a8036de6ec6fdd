// Rows of pauses by following where values came from.
import { OriginIndex } from '@sandbridge/flow/origin-index.ts'
import { pauseRows } from '../../../bench/pauses.ts'
import type { BenchRow } from '../../../bench/row.ts'

const MIXED = String.raw`\u0041%41&amp;1.5e+3 0001234567 word<b> aGVsbG8gd29ybGQgdGV4dA== `

export default function flowPauses(): Promise<BenchRow[]> {
  return pauseRows({
    '40 MB of arguments of percent signs, with flow rules': () => origin('%41'.repeat(13_300_000)),
    'a million arguments, with flow rules': () => origin(Array.from({ length: 1_000_000 }, (_, at) => `x${at}`)),
    'a result of 2 MB in mixed encodings, with flow rules': () => {
      const index = new OriginIndex()
      const result = MIXED.repeat(30_000)
      return () => index.addResult({ server: 's', name: 't' }, result)
    },
  })
}

function origin(value: unknown): () => unknown {
  const index = new OriginIndex()
  return () => index.originOf(value)
}
