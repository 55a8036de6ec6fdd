// The methods for saved tools: functions that cells save for later sessions.
import * as z from 'zod'
import { type CallContext, method, tellingMethod } from '@sandbridge/core/calls/methods'
import { savedToolLine, type SavedTool, writtenText } from './saved/saved-tool.ts'
import { parseSavedTool } from './saved/saved-tool-store.ts'
import { opens, savedOf } from './saved/saved-things.ts'

const name = z.string().max(1_000)
const versionOf = z.object({ name, version: z.int().min(1).max(1_000_000_000).nullish() })

async function opened({ name: wanted, version }: z.infer<typeof versionOf>, { state, flow }: CallContext) {
  const tool = await savedOf(state).tools.find(wanted, version ?? undefined)
  await opens(flow, { tools: [tool] })
  return tool
}

export const savedToolMethods = {
  save_tool: tellingMethod(z.object({ tool: z.unknown() }), async ({ tool }, { state, flow }) => {
    const content = parseSavedTool(tool)
    await flow?.keeps(writtenText(content))
    return shown(await savedOf(state).saveTool(content))
  }),

  load_saved_tool: tellingMethod(versionOf, opened),

  list_saved_tools: tellingMethod(z.object({}), async (_, { state, flow }) => {
    const { tools, broken } = await savedOf(state).loadable.list()
    await opens(flow, { tools, broken })
    return [...tools.map(shown), ...broken]
  }),

  show_tool: tellingMethod(versionOf, async (wanted, context) => {
    const tool = await opened(wanted, context)
    return { ...tool, versions: await savedOf(context.state).tools.versions(wanted.name) }
  }),

  delete_tool: method(z.object({ name }), async ({ name: wanted }, { state }) => {
    await savedOf(state).tools.remove(wanted)
    return null
  }),
}

/** The fields of a saved tool that a cell sees. */
export function shown({ name: toolName, version: number, description, signature, createdAt, ...tool }: SavedTool) {
  const line = savedToolLine({ name: toolName, description, signature, ...tool })
  return { name: toolName, version: number, description, signature, createdAt, line }
}
