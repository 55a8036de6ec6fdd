// The methods for saved tools: functions that cells save for later sessions, and searches that include them.
import * as z from 'zod'
import type { ToolDoc } from '../catalog/arguments/tool-doc.ts'
import type { Detail } from '../catalog/arguments/tool-line.ts'
import type { Wordings } from '../catalog/search/wordings.ts'
import { oneLine } from '../../util/text/server-words.ts'
import { firstOf } from '../../util/text/count.ts'
import type { LoadableTools } from '../../keep/saved/loadable-tools.ts'
import { SAVED_TOOLS_MODULE, savedToolLine, type SavedTool, writtenText } from '../../keep/saved/saved-tool.ts'
import { type BrokenTool, parseSavedTool } from '../../keep/saved/saved-tool-store.ts'
import { searchWithSaved } from '../search-with-saved.ts'
import type { SessionFlow } from '../flow-part.ts'
import { type CallContext, method, resultsFor, tellingMethod } from './method.ts'

const name = z.string().max(1_000)
const versionOf = z.object({ name, version: z.int().min(1).max(1_000_000_000).nullish() })

async function opened({ name: wanted, version }: z.infer<typeof versionOf>, { state, flow }: CallContext) {
  const tool = await state.savedTools.find(wanted, version ?? undefined)
  await opens(flow, { tools: [tool] })
  return tool
}

export const savedToolMethods = {
  save_tool: tellingMethod(
    z.object({ tool: z.unknown() }),
    async ({ tool }, { state: { savedTools }, checkSavedTool, flow }) => {
      const content = parseSavedTool(tool)
      await flow?.keeps(writtenText(content))
      return shown(await savedTools.save(content, () => checkSavedTool(content)))
    },
  ),

  load_saved_tool: tellingMethod(versionOf, opened),

  list_saved_tools: tellingMethod(z.object({}), async (_, { state: { loadableTools }, flow }) => {
    const { tools, broken } = await loadableTools.list()
    await opens(flow, { tools, broken })
    return [...tools.map(shown), ...broken]
  }),

  show_tool: tellingMethod(versionOf, async (wanted, context) => {
    const tool = await opened(wanted, context)
    return { ...tool, versions: await context.state.savedTools.versions(wanted.name) }
  }),

  delete_tool: method(z.object({ name }), async ({ name: wanted }, { state: { savedTools } }) => {
    await savedTools.remove(wanted)
    return null
  }),
}

/** Searches servers' tools and, unless servers are named, saved tools, in one ranking. Notes tell of broken ones. */
export async function searchTools(
  query: Wordings,
  options: { limit: number; servers: string[]; withSaved: boolean; detail: Detail },
  context: CallContext,
): Promise<ToolDoc[]> {
  const { catalog, state, session, signal, learned, flow } = context
  const { withSaved, ...rest } = { ...options, learned, resultsOf: resultsFor(context) }
  const { docs, saved, broken } = withSaved
    ? await searchWithSaved(query, rest, catalog, state.loadableTools, signal)
    : { docs: await catalog.search(query, rest, signal), saved: [], broken: [] }
  flow?.told(docs.filter(({ server }) => server !== SAVED_TOOLS_MODULE))
  await opens(flow, { tools: saved })
  if (broken.length > 0) session.tellOnce(brokenNote(broken))
  learned?.noteSearch(session, [query].flat(), docs)
  return docs
}

/** A cell reads saved tools. What is wrong with a broken one may be in the words of its code. */
export async function opens(
  flow: SessionFlow | undefined,
  { tools, broken = [] }: { tools: readonly SavedTool[]; broken?: readonly BrokenTool[] },
): Promise<void> {
  await flow?.opens('saved tools', tools.map(writtenText), { isCode: true })
  if (broken.length > 0) flow?.returned({ server: 'saved tools', name: 'broken' }, broken)
}

export async function savedToolLines(loadableTools: LoadableTools, flow?: SessionFlow): Promise<string[]> {
  const { tools, broken } = await loadableTools.list()
  await opens(flow, { tools, broken })
  // Broken tools first: the end of a long list is cut.
  return [
    ...broken.map((tool) => `${tool.name} is broken: ${oneLine(tool.problem, MAX_PROBLEM_CHARS)}`),
    ...tools.map((tool) => savedToolLine(tool)),
  ]
}

const MAX_PROBLEM_CHARS = 200
const MAX_NAMED = 5

function brokenNote(broken: BrokenTool[]): string {
  const names = firstOf(
    broken.map((tool) => tool.name),
    MAX_NAMED,
  )
  return `Not searched, because they cannot be loaded: ${names} (saved tools). See print(runtime.list_saved_tools())`
}

/** The fields of a saved tool that a cell sees. */
export function shown({ name: toolName, version: number, description, signature, createdAt, ...tool }: SavedTool) {
  const line = savedToolLine({ name: toolName, description, signature, ...tool })
  return { name: toolName, version: number, description, signature, createdAt, line }
}
