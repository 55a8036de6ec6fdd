// The requests of a page that one bridge answers: the one that serves the page, or another one of the same user, over
// its socket.
import * as z from 'zod'
import type { Bridge } from '../../bridge/bridge.ts'
import { BridgeError } from '../../errors.ts'
import { Notebook } from './views/notebook.ts'
import { codeParam, get, nameParam, post, type Routes } from './route.ts'
import { serverDetails, serverList } from './views/server-views.ts'
import { sharedUsage } from './views/usage.ts'

const SEARCH_LIMIT = 20

/** Whose servers the page shows, where clients of several folders share this bridge. */
export interface PageFolders {
  folder: string | undefined
  folders: string[]
}

const server = z.object({ name: nameParam })
/** Missing means the page's own. */
const session = nameParam.optional()

export function createBridgeRoutes(bridge: Bridge): Routes {
  const notebook = new Notebook(bridge)
  return new Map([
    post('interrupt', z.object({ id: nameParam }), ({ id }) => ({ wasRunning: bridge.cells.interrupt(id) })),
    get('servers', z.object({}), async () => serverList(await bridge.serversOfPage())),
    get('server', server, async ({ name }) => serverDetails(await bridge.serversOfPage(), name)),
    post('server/restart', server, async ({ name }) => {
      const servers = await bridge.serversOfPage()
      await servers.connected.upstreams.stop(name)
      // The catalog holds the outcome.
      await servers.connected.catalog.index([name])
      return serverDetails(servers, name)
    }),
    post('server/sign-in', server, ({ name }) => signInTo(bridge, name)),
    get('folders', z.object({}), (): PageFolders => bridge.pageFolders),
    post('folder', z.object({ folder: nameParam }), async ({ folder }) => {
      if (await bridge.showFolder(folder)) return bridge.pageFolders
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'No client is in this folder any more', { hint: '' })
    }),
    get('search', z.object({ query: z.string() }), async ({ query }) => {
      const { catalog } = (await bridge.serversOfPage()).connected
      const hits = await catalog.searchWithReasons(query, { limit: SEARCH_LIMIT, detail: 'full' })
      return { hits, unsearched: catalog.unsearched(catalog.servers().map(({ name }) => name)) }
    }),
    get('notebook', z.object({}), () => ({ session: notebook.own.id })),
    post('notebook/run', z.object({ code: codeParam, session }), (asked) => notebook.run(asked.code, asked.session)),
    post('notebook/complete', z.object({ code: codeParam, session }), (asked) =>
      notebook.complete(asked.code, asked.session),
    ),
    get('usage', z.object({}), sharedUsage(bridge)),
  ])
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID, and the errors of the route */
export async function answerFrom(routes: Routes, path: unknown, params: unknown): Promise<unknown> {
  const route = typeof path === 'string' ? routes.get(path) : undefined
  if (!route) throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'This bridge does not know this request', { hint: '' })
  return route.answer(params)
}

/**
 * @returns the address to open; the outcome is reported by an event.
 * @throws BridgeError as `Bridge.beginSignIn` does
 */
async function signInTo(bridge: Bridge, name: string): Promise<{ url: string }> {
  const page = await bridge.beginSignIn(name)
  const url = bridge.signInPage?.linkTo({ server: name, user: undefined, page }) ?? page.href
  return { url: /^https?:/.test(url) ? url : '' }
}
