// The page's requests, one entry per path. Responses are JSON; changes are sent as events.
import { join } from 'node:path'
import * as z from 'zod'
import { beginSignIn } from '@sandbridge/core/bridge'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { SETTINGS_FILE } from '@sandbridge/core/config'
import { describeSettings } from '@sandbridge/shared/describe-settings.ts'
import { features } from '@sandbridge/core/serve/cli/package.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { answerAsked, openQuestions } from './views/ask.ts'
import { costs } from './views/costs.ts'
import { kept, keptArtifact, keptTool } from './views/kept.ts'
import { recordedRun, recordRuns, runFilter } from './views/record.ts'
import { Notebook } from './views/notebook.ts'
import { serverDetails, serverList, type ServerListView } from './views/server-views.ts'
import type { Ledger } from '@sandbridge/core/observe/runs'

interface Route {
  method: 'GET' | 'POST'
  answer: (params: unknown) => unknown
}

type Routes = ReadonlyMap<string, Route>

const nameParam = z.string().min(1).max(1_000)
const codeParam = z.string().max(1_000_000)

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

const SEARCH_LIMIT = 20

/** It becomes a file name. */
const questionId = z.string().regex(/^[0-9a-f]{16}$/)
const version = z.coerce.number().int().optional()

const server = z.object({ name: nameParam })
/** Missing means the page's own. */
const session = nameParam.optional()

export function createRoutes(bridge: Bridge, ledger: Ledger): Routes {
  const notebook = new Notebook(bridge)
  return new Map([
    post('interrupt', z.object({ id: nameParam }), ({ id }) => ({ wasRunning: bridge.cells.interrupt(id) })),
    get('servers', z.object({}), async (): Promise<ServerListView> => {
      const set = await bridge.page.servers()
      const { notes, ...list } = serverList(set)
      return { ...list, notes: [...notes, ...(await features.serverNotes({ stores: bridge.stores, set }))] }
    }),
    get('server', server, async ({ name }) => serverDetails(await bridge.page.servers(), name)),
    post('server/restart', server, async ({ name }) => {
      const servers = await bridge.page.servers()
      await servers.connected.upstreams.of(name).stop()
      // The catalog holds the outcome.
      await servers.connected.catalog.index([name])
      return serverDetails(servers, name)
    }),
    post('server/sign-in', server, ({ name }) => signInTo(bridge, name)),
    get('search', z.object({ query: z.string() }), async ({ query }) => {
      const { catalog } = (await bridge.page.servers()).connected
      const hits = await catalog.searchWithReasons(query, {
        limit: SEARCH_LIMIT,
        detail: 'full',
        resultsOf: { user: undefined },
      })
      return { hits, unsearched: catalog.unsearched(catalog.servers().map(({ name }) => name)) }
    }),
    get('notebook', z.object({}), () => ({ session: notebook.own.id })),
    post('notebook/run', z.object({ code: codeParam, session }), (asked) => notebook.run(asked.code, asked.session)),
    post('notebook/complete', z.object({ code: codeParam, session }), (asked) =>
      notebook.complete(asked.code, asked.session),
    ),
    get('usage', z.object({}), sharedUsage(bridge.sessions)),
    get('cell', z.object({ id: nameParam }), ({ id }) => {
      const cell = ledger.runs.get(id)
      if (cell) return cell
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'This run is no longer stored', { hint: '' })
    }),
    get('record', runFilter, (filter) => recordRuns(bridge, ledger, filter)),
    get('record/run', z.object({ id: nameParam, at: z.coerce.number() }), ({ id, at }) => recordedRun(bridge, id, at)),
    get('questions', z.object({}), () => openQuestions(bridge)),
    post(
      'question/answer',
      z.object({ id: questionId, asking: nameParam, text: codeParam, answer: nameParam }),
      (given) => answerAsked(bridge, given, given.answer),
    ),
    get('settings', z.object({}), () =>
      describeSettings(process.env, {}, join(bridge.settings.stateDir, SETTINGS_FILE)),
    ),
    get('costs', z.object({}), () => costs(bridge)),
    get('kept', z.object({}), () => kept(bridge)),
    get('artifact', z.object({ name: nameParam, version }), (one) => keptArtifact(bridge, one.name, one.version)),
    get('tool', z.object({ name: nameParam, version }), (one) => keptTool(bridge, one.name, one.version)),
  ])
}

/**
 * @returns the address to open; the outcome is reported by an event.
 * @throws BridgeError as `Bridge.beginSignIn` does
 */
async function signInTo(bridge: Bridge, name: string): Promise<{ url: string }> {
  const page = await beginSignIn((await bridge.page.servers()).connected, name)
  const url = bridge.signInPage?.linkTo({ server: name, user: undefined, page }) ?? page.href
  return { url: /^https?:/.test(url) ? url : '' }
}

/** Current resource use of the sandboxes of sessions. */
export type UsageView = Awaited<ReturnType<Bridge['sessions']['usage']>>[number]

/** How long a measurement counts: several pages may ask at once. */
const FRESH_MS = 1_000

function sharedUsage(sessions: Bridge['sessions']): () => Promise<UsageView[]> {
  let last: Promise<UsageView[]> | undefined
  let askedAt = -Infinity
  return () => {
    const now = performance.now()
    if (last && now - askedAt < FRESH_MS) return last
    askedAt = now
    return (last = sessions.usage())
  }
}
