// For `sandbridge doctor`: whether the record is unchanged.
import type { Finding } from '@sandbridge/core/serve/cli'
import type { Stores } from '@sandbridge/core/util/stores'
import { count } from '@sandbridge/core/util/text'
import { recordIn } from '../audit/other-files.ts'
import { verifyRecord } from '../audit/verify-record.ts'

export async function checkRecord(stores: Stores): Promise<Finding[]> {
  const { problems } = await verifyRecord(recordIn(stores.of(undefined)))
  if (problems.length === 0) return []
  const message = `The audit log was changed: ${count(problems.length, 'finding')}.`
  return [{ check: 'record', level: 'warning', message, advice: 'See `sandbridge log --verify`.' }]
}
