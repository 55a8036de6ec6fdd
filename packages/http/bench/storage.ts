// Rows of stored tokens.
import { NamedTokens } from '@sandbridge/http/access/named-tokens.ts'
import type { Store } from '../../core/src/util/stores/store.ts'
import { rowsInStores } from '../../../bench/in-stores.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

export default (): Promise<BenchRow[]> => rowsInStores(tokenRow)

async function tokenRow(store: Store): Promise<[string, string][]> {
  const tokens = new NamedTokens(store)
  for (let index = 0; index < 20; index += 1) await tokens.create(`user-${index}`)
  const times = await samples(50, () => timed(() => tokens.list()))
  return [['the look-up of a token for a request', ms(median(times))]]
}
