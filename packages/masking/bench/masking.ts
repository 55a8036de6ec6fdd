// Rows of masking: log lines of which one in twenty has personal data, and log lines that all have some.
import { MASK_KINDS } from '../../core/src/config/settings/sandbox.ts'
import { createMaskers } from '@sandbridge/masking/part.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow } from '../../../bench/row.ts'

const CHARS = 1_000_000
const LIMIT_MS = 50
const SAMPLES = 15
const PERSONAL =
  'order 18231 by alice.smith@example.com from 93.184.216.34 paid 4111 1111 1111 1111, call +49 30 1234567\n'
const PLAIN = '2024-01-02T03:04:05Z info worker-17: job 4711 done in 12.5 ms, 3 of 20 items (status: ok) queue=mail\n'

export default async function maskingRows(): Promise<BenchRow[]> {
  const usual = await medianOf(PERSONAL + PLAIN.repeat(19))
  const dense = await medianOf(PERSONAL)
  return [
    atMost('masking 1 MB of text', usual, LIMIT_MS, ms),
    { name: '… with four values on every line', value: ms(dense), goal: '–', ok: null },
  ]
}

async function medianOf(unit: string): Promise<number> {
  const text = unit.repeat(Math.ceil(CHARS / unit.length))
  const mask = async (): Promise<unknown> => createMaskers({ kinds: MASK_KINDS }).of({}).maskedNow(text)
  await mask()
  return median(await samples(SAMPLES, () => timed(mask)))
}
