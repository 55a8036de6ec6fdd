// A resident's bridge for one command, with the servers of the folder that it was typed in.
import type { Bridge } from '../../../bridge/bridge.ts'
import type { Session } from '../../../cell/session/session.ts'
import type { CommandBridge } from '../../../cli/terminal/command-bridge.ts'
import type { AskInput } from '../../../config/entries/input-answers.ts'
import type { ClientContext } from '../../../config/settings/client-context.ts'
import type { Log } from '../../../util/log.ts'

/** @throws BridgeError CONFIG_INVALID while the rules of that folder contain a mistake */
export async function residentBridge(
  bridge: Bridge,
  context: ClientContext,
  log: Log,
  ask: AskInput | undefined,
): Promise<CommandBridge> {
  const client = bridge.connect(context, log, { ask })
  const opened: Session[] = []
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((session) => bridge.sessions.close(session)))
    await client.close()
  }
  try {
    const { connected, configured } = await client.now()
    const { settings, cells, users, own } = bridge
    return {
      settings,
      log,
      cells: {
        run: (session, request) => cells.run(session, { ...request, run: { ...request.run, servers: client } }),
      },
      users,
      own,
      catalog: connected.catalog,
      upstreams: connected.upstreams,
      servers: connected,
      get discovered() {
        return configured.discovered
      },
      get recordFailure() {
        return bridge.recordFailure
      },
      sessions: {
        open: () => {
          const session = bridge.sessions.open(undefined, client)
          opened.push(session)
          return session
        },
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
