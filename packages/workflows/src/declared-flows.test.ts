import { flow } from '@sandbridge/core/parts'
import { KeptOrigins } from '@sandbridge/core/util/stores'
import { expect, it, vi } from 'vitest'
import { flowsOfRecord } from './declared-flows.ts'

it('a build without flows declares none for a workflow', async () => {
  vi.spyOn(flow, 'isHere', 'get').mockReturnValue(false)
  const load = vi.spyOn(flow, 'for').mockRejectedValue(new Error('not in this build'))
  const recorded = { cells: ['1 + 1'], calls: [], incompleteCount: 0 }
  expect(await flowsOfRecord(recorded, Object.create(KeptOrigins.prototype) as KeptOrigins)).toEqual([])
  expect(load).not.toHaveBeenCalled()
  vi.restoreAllMocks()
})
