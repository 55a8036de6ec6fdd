// @module-tag whole: it is about the benchmark, not the product
// Replays of tasks of the arena with published servers and the built bridge: the gold calls solve them in every way,
// and what they cost is counted in the same way each time.
import { beforeEach, describe, expect, it } from 'vitest'
import { needsWholeRun } from '@sandbridge/core/test/support/suite/needs.ts'
import { goldPlayer } from '../../bench/arena/gold.ts'
import { play, type Outcome, type Player } from '../../bench/arena/play.ts'
import { replay } from '../../bench/arena/replay.ts'
import { pairs } from '../../bench/arena/report.ts'
import { ownTasks } from '../../bench/arena/tasks/own.ts'
import type { Task } from '../../bench/arena/task.ts'

beforeEach(needsWholeRun)
const tasks = ownTasks()
const named = (id: string): Task => tasks.find((task) => task.id === id)!

describe('a replay', () => {
  it('solves a task of one call in every way, and needs a turn more where it searches', async () => {
    const outcomes = await replay(named('one sum'))
    expect(outcomes.filter(({ wrong, errors }) => wrong !== undefined || errors > 0)).toEqual([])
    expect(outcomes.map(({ way, turns }) => [way, turns])).toEqual([
      ['direct', 2],
      ['search', 3],
      ['sandbridge', 3],
      ['sandbridge', 3],
      ['listed', 2],
      ['found', 3],
      ['proposed', 2],
    ])
    const { direct, search, cell, listed, found, proposed } = pairs(outcomes)[0]!
    expect(listed!.tokens.read).toBeLessThanOrEqual(direct.tokens.read * 1.1)
    // The proposal lists run_python and the one tool; a search needs no definitions of tools.
    expect(proposed!.tokens.tools).toBeLessThan(listed!.tokens.tools / 4)
    expect(found!.tokens.tools).toBeLessThan(listed!.tokens.tools / 4)
    // All tools are read in each turn; a search lists five of them for the turns after it.
    expect(direct.tokens.readTools).toBe(2 * direct.tokens.tools)
    expect(search!.tokens.readTools).toBeLessThan(direct.tokens.readTools / 4)
    expect(cell.tokens.read).toBeLessThanOrEqual(direct.tokens.read * 1.3)
    expect(cell.tokens.written).toBe(cell.tokens.calls + cell.tokens.answers)
  })

  it('counts the same tokens again with fresh data', async () => {
    const once = async (): Promise<Outcome['tokens']> =>
      (await play(named('three reports'), 'sandbridge', 'one cell', goldPlayer('sandbridge', 'one cell'))).tokens
    expect(await once()).toEqual(await once())
  })
})

describe('the checker', () => {
  const idle: Player = () => Promise.resolve({ text: 'I could not.', calls: [] })

  it.for(tasks.map(({ id }) => id))('finds that nothing was done: %s', async (id) => {
    const world = await named(id).open()
    expect(await world.check('I could not.')).toMatch(/./)
    await world.close()
  })

  it('is asked at the end of a run', async () => {
    const { wrong, turns } = await play(named('one note'), 'direct', 'calls', idle)
    expect(wrong).toMatch(/note\.txt/)
    expect(turns).toBe(1)
  })

  it('ends a run of a model that never stops', async () => {
    const restless: Player = () => Promise.resolve({ text: '', calls: [{ name: 'no_such_tool', args: {} }] })
    const { wrong, errors } = await play(named('one note'), 'direct', 'calls', restless)
    expect(wrong).toMatch(/no end after \d+ turns/)
    expect(errors).toBeGreaterThan(0)
  })
})

it('has twelve tasks, from one call to three hundred', () => {
  const sizes = tasks.map(({ size }) => size)
  expect([tasks.length, Math.min(...sizes), Math.max(...sizes)]).toEqual([12, 1, 300])
})
