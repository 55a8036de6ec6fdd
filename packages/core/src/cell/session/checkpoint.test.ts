import { expect, it } from 'vitest'
import { lossNote, restoresNote } from '../render/session-notes.ts'
import { CheckpointKeeper } from './checkpoint.ts'

const note = ({ restorable }: CheckpointKeeper) => restoresNote(restorable!)

const taken = (extra: Partial<{ kept: string[]; lost: string[] }> = {}) => ({
  data: 'AA==',
  kept: ['x'],
  lost: [],
  ...extra,
})

it('a checkpoint says what comes back and what is lost', () => {
  const keeper = new CheckpointKeeper()
  expect(keeper.restorable).toBeUndefined()
  keeper.keep(taken({ kept: ['x', 'y'], lost: ['f (function of a cell)'] }))
  expect(note(keeper)).toMatch(/: x, y\. Lost: f \(function of a cell\)\.$/)
  keeper.keep(taken({ kept: [], lost: ['f'] }))
  expect(keeper.restorable).toBeUndefined()
  keeper.keep(taken({ kept: Array.from({ length: 40 }, (_, index) => `v${index}`) }))
  expect(note(keeper)).toMatch(/v29, … \(40 in all\)/)
})

it('a checkpoint that is not of the last cell says whose it is', () => {
  const keeper = new CheckpointKeeper()
  keeper.keep(taken())
  keeper.cellEnded(3)
  expect(note(keeper)).toMatch(/as they were before this cell: x/)
  keeper.cellEnded(4)
  expect(note(keeper)).toMatch(/as they were after cell 3 \(later changes are lost\): x/)
  expect(lossNote('Over', keeper.restorable)).toMatch(
    /restores the variables as they were after cell 3 \(later changes are lost\)\./,
  )
  keeper.keep(taken())
  expect(note(keeper)).toMatch(/as they were before this cell: x/)
})

it('a checkpoint is handed out until a kernel keeps a newer one, and given up when kernels keep dying of it', () => {
  const keeper = new CheckpointKeeper()
  keeper.keep(taken())
  expect([keeper.take(), keeper.take()]).toEqual(['AA==', 'AA=='])
  keeper.keep(taken())
  expect([keeper.take(), keeper.take(), keeper.take()]).toEqual(['AA==', 'AA==', 'AA=='])
  expect(keeper.restorable).toBeUndefined()
  expect(keeper.take()).toBeUndefined()
})
