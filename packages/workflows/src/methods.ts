// The methods for workflows: saved functions that can be run without a model.
import * as z from 'zod'
import { boundedList } from '@sandbridge/core/util/json'
import { writtenText } from '@sandbridge/memories/saved/saved-tool.ts'
import { parseSavedTool } from '@sandbridge/memories/saved/saved-tool-store.ts'
import { shown } from '@sandbridge/memories/saved-tool-methods.ts'
import { opens, savedOf } from '@sandbridge/memories/saved/saved-things.ts'
import { tellingMethod } from '@sandbridge/core/calls/methods'

const MAX_CALLS = 200
const text = z.string().min(1).max(1_000)
const saved = z.object({
  title: z.string().max(1_000),
  parameters: z.array(z.unknown()).max(1_000),
  calls: boundedList(z.object({ server: text, tool: text }), MAX_CALLS),
})

export const workflowMethods = {
  save_workflow: tellingMethod(
    z.object({ tool: z.unknown(), workflow: saved }),
    async ({ tool, workflow }, context) => {
      const { catalog, scope, state, facts, signal } = context
      const { calls, title, parameters } = workflow
      const { usedTools } = await import('./used-tools.ts')
      const reachable = calls.filter(({ server }) => scope.has(catalog.resolveServer(server) ?? ''))
      const uses = await usedTools(reachable, catalog, signal)
      const content = parseSavedTool({
        ...(tool as object),
        workflow: { title, parameters, uses, packages: facts.packages },
      })
      await context.flow?.keeps(writtenText(content))
      return shown(await savedOf(state).saveTool(content))
    },
  ),

  list_workflows: tellingMethod(z.object({}), async (_, { state, flow }) => {
    const { tools, broken } = await savedOf(state).loadable.list()
    const workflows = tools.filter((tool) => tool.workflow !== undefined)
    await opens(flow, { tools: workflows, broken })
    return [...workflows.map(shown), ...broken]
  }),
}
