// @module-tag whole: a published benchmark
// Tasks of AgentDojo and BFCL, with their own environments and checkers: each needs a Python that has its package.
import { describe, expect, it } from 'vitest'
import { play, type Player } from '../../bench/arena/play.ts'
import { replay } from '../../bench/arena/replay.ts'
import { publishedTasks, PYTHONS } from '../../bench/arena/tasks/published.ts'
import type { Task } from '../../bench/arena/task.ts'
import { needsWholeRun, skip } from '@sandbridge/core/test/support/suite/needs.ts'

const COUNTS = { agentdojo: 97, bfcl: 800 }

async function tasksOf(source: keyof typeof COUNTS): Promise<Task[]> {
  if (process.env[PYTHONS[source]] === undefined)
    skip(`${PYTHONS[source]} names no Python with the package of ${source}`)
  return publishedTasks(source)
}

describe.each(['agentdojo', 'bfcl'] as const)('%s', (source) => {
  it('is solved by its gold calls in every way, and not by a model that does nothing', async () => {
    needsWholeRun()
    const tasks = await tasksOf(source)
    expect(tasks).toHaveLength(COUNTS[source])
    const kindOf = ({ id }: Task) => id.replace(/_?\d+$/, '')
    for (const kind of new Set(source === 'bfcl' ? tasks.map(kindOf) : ['any'])) {
      // The shortest with more than one call.
      const ofKind = tasks.filter((task) => task.size > 1 && (kind === 'any' || kindOf(task) === kind))
      const task = ofKind.toSorted((a, b) => a.size - b.size)[0]!
      const outcomes = await replay(task)
      expect(outcomes.filter(({ wrong, errors }) => wrong !== undefined || errors > 0)).toEqual([])
      expect(outcomes.map(({ calls }) => calls)[0]).toBe(task.size)
      const idle: Player = () => Promise.resolve({ text: 'I could not.', calls: [] })
      expect((await play(task, 'direct', 'calls', idle)).wrong).toMatch(/./)
    }
  })
})
