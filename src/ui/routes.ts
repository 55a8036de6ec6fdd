// What the page can ask for, one entry a path. Answers are JSON; what happens meanwhile comes as events.
import * as z from 'zod'
import type { Bridge } from '../bridge.ts'
import { BridgeError } from '../errors.ts'
import { answerAsked, openQuestions } from './ask.ts'
import { kept, keptArtifact, keptTool } from './kept.ts'
import { Notebook } from './notebook.ts'
import { signInTo } from './sign-in.ts'
import { serverDetails, serverList } from './server-views.ts'
import type { Source } from './source.ts'

interface Route {
  method: 'GET' | 'POST'
  answer: (params: unknown) => unknown
}

const name = z.string().min(1).max(1_000)
const code = z.string().max(1_000_000)
/** It becomes the name of a file. */
const questionId = z.string().regex(/^[0-9a-f]{16}$/)
const SEARCH_LIMIT = 20

/** @param bridge the one whose servers the page shows, and in whose sandboxes its own cells run */
export function createRoutes(bridge: Bridge, sources: readonly Source[], notebook: Notebook): Map<string, Route> {
  const sourceOf = (id: string): Source => {
    const source = sources.find((one) => one.id === id)
    if (source) return source
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'That bridge has ended', { hint: '' })
  }
  return new Map<string, Route>([
    get('cells', z.object({}), () =>
      sources.flatMap(({ id, history }) => history.rows().map((row) => ({ ...row, source: id }))),
    ),
    get('cell', z.object({ source: name, id: name }), (asked) => {
      const cell = sourceOf(asked.source).history.state.cells.get(asked.id)
      if (cell) return cell
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'This run is no longer kept', { hint: '' })
    }),
    post('interrupt', z.object({ source: name, id: name }), (asked) => ({
      wasRunning: sourceOf(asked.source).interrupt(asked.id),
    })),
    get('servers', z.object({}), () => serverList(bridge)),
    get('server', z.object({ name }), (asked) => serverDetails(bridge, asked.name)),
    post('server/restart', z.object({ name }), async (asked) => {
      await bridge.restartServer(asked.name)
      return serverDetails(bridge, asked.name)
    }),
    post('server/sign-in', z.object({ name }), (asked) => signInTo(bridge, asked.name)),
    get('search', z.object({ query: z.string().max(2_000) }), async (asked) => {
      const hits = await bridge.catalog.searchWithReasons(asked.query, { limit: SEARCH_LIMIT, detail: 'full' })
      return { hits, unsearched: bridge.catalog.unsearched(bridge.catalog.servers().map((one) => one.name)) }
    }),
    post('notebook/run', z.object({ code }), (asked) => notebook.run(asked.code)),
    post('notebook/complete', z.object({ code }), (asked) => notebook.complete(asked.code)),
    get('questions', z.object({}), () => openQuestions(bridge)),
    post('question/answer', z.object({ id: questionId, asking: name, text: code, answer: name }), (asked) =>
      answerAsked(bridge, asked, asked.answer),
    ),
    get('kept', z.object({}), () => kept(bridge)),
    get('artifact', z.object({ name, version: z.coerce.number().int().optional() }), (asked) =>
      keptArtifact(bridge, asked.name, asked.version),
    ),
    get('tool', z.object({ name, version: z.coerce.number().int().optional() }), (asked) =>
      keptTool(bridge, asked.name, asked.version),
    ),
  ])
}

function get<T>(path: string, schema: z.ZodType<T>, answer: (params: T) => unknown): [string, Route] {
  return [path, { method: 'GET', answer: (params) => answer(parsed(schema, params)) }]
}

function post<T>(path: string, schema: z.ZodType<T>, answer: (params: T) => unknown): [string, Route] {
  return [path, { method: 'POST', answer: (params) => answer(parsed(schema, params)) }]
}

function parsed<T>(schema: z.ZodType<T>, params: unknown): T {
  const { success, data } = schema.safeParse(params)
  if (success) return data
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'The page sent an invalid request', { hint: 'Reload it.' })
}
