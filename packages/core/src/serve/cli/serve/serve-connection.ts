// Serves one client over a transport: its standard streams, or the socket of its relay.
import { serveStdio, type ServeStdioOptions } from '@modelcontextprotocol/server/stdio'
import { type UpstreamNames, namesByConfig, readKeptNames } from '../../../bridge/tenants/kept-upstream-names.ts'
import type { ClientContext } from '../../../config/settings/client-context.ts'
import type { Settings } from '../../../config/settings/settings.ts'
import { clientErrors } from '../../client-message.ts'
import { createServer } from '../../mcp/create-server.ts'
import type { Deliveries } from '../../mcp/client/deliveries.ts'
import type { Conversation } from '../../mcp/sessions.ts'
import { OpenRuns } from '../../mcp/runs/open-runs.ts'
import type { Log } from '../../../util/log.ts'
import { features } from '../package.ts'

interface ClientOptions {
  settings: Settings
  log: Log
  context: ClientContext
  transport: NonNullable<ServeStdioOptions['transport']> & { deliveries: Deliveries }
  /** Called once, when the client first needs a bridge. */
  open: () => Promise<Conversation>
}

export function serveConnection({ settings, log, context, transport, open }: ClientOptions) {
  let conversation: Promise<Conversation> | undefined
  const getConversation = (): Promise<Conversation> => {
    conversation ??= open().catch((error: unknown) => {
      // The next call tries again.
      conversation = undefined
      throw error
    })
    return conversation
  }
  // Only a start after a change of the config files waits until they are read. No start waits for a server.
  const readNames = async (): Promise<UpstreamNames | undefined> =>
    readKeptNames(settings, context) ?? namesByConfig(settings, context)
  let told: UpstreamNames | undefined
  const runs = new OpenRuns()
  const { offers } = features
  const handle = serveStdio(
    ({ era }) =>
      // Tracked, because a client may close its input before the names of its servers are read.
      runs.answer(async () =>
        createServer({
          settings,
          log,
          getConversation,
          runs,
          deliveries: transport.deliveries,
          offers,
          upstreamNames: (told = await readNames()),
          isModern: era === 'modern',
        }),
      ),
    { transport, onerror: clientErrors(log) },
  )
  return {
    getConversation,
    /** What the client was told of its servers. */
    toldNames: () => told?.text ?? '',
    /** Whether features offer it the same as long as no config file changes. */
    isFixed: () =>
      offers.every((make) => make({ settings, hasDirect: told?.hasDirect, getConversation }) === undefined),
    /** How many tasks of the client run, or have a result that it has not fetched. */
    unfetchedTasks: () => runs.unfetchedTasks,
    /** What was opened; undefined when nothing was, or when that failed. */
    opened: async () => conversation?.catch(() => undefined),
    /** Call when its cells have ended. */
    close: async (): Promise<void> => {
      // Cells that have ended with their sandbox still return their result.
      await runs.answered()
      transport.deliveries.ended()
      await handle.close()
    },
  }
}
