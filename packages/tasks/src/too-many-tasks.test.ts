import type { Server } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { OpenRun } from '../../core/src/serve/mcp/runs/open-run.ts'
import { OpenRuns } from '../../core/src/serve/mcp/runs/open-runs.ts'
import { openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'

it('an older client that asks for a task gets an error, and no code runs, where too many tasks run', async () => {
  const runs = new OpenRuns()
  const tasks = (await runs.tasks()).serve({} as Server, false, () => ({}))
  for (let count = 0; count < 64; count += 1) {
    const endless = new OpenRun({})
    endless.start(new Promise(() => {}))
    void tasks.taskFor(true)!.answer(endless)
  }
  const { client, run } = await openObserved({ runs })
  const params = { name: 'run_python', arguments: { code: 'ran = True' }, task: {} }
  await expect(client.callTool(params)).rejects.toThrow('64 tasks are running. No code ran.')
  // Other calls need no task.
  expect(JSON.stringify(await run('"ran" in globals()'))).toContain('False')
})
