// Rows of the stored record.
import { recordIn } from '@sandbridge/record/audit/other-files.ts'
import { RECORD_LIMITS, RecordFile } from '@sandbridge/record/audit/record-file.ts'
import type { Store } from '../../core/src/util/stores/store.ts'
import { rowsInStores } from '../../../bench/in-stores.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const LINES = 1_000

export default (): Promise<BenchRow[]> => rowsInStores(recordRow)

async function recordRow(store: Store): Promise<[string, string][]> {
  const record = new RecordFile({ logs: recordIn(store), about: {}, sync: false, limits: RECORD_LIMITS })
  const line = { time: new Date().toISOString(), type: 'call', server: 'hub', text: 'x'.repeat(300) }
  await record.flush()
  const times = await samples(10, () => {
    for (let index = 0; index < LINES; index += 1) record.add(line)
    return timed(() => record.flush())
  })
  await record.close()
  return [[`${LINES} lines of the record written`, ms(median(times))]]
}
