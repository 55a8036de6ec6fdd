// In a resident: runs one command that its user typed in another process.
import type { Socket } from 'node:net'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import type { ClientContext, Settings } from '@sandbridge/core/config/settings'
import { commandOf } from '../reach/protocol.ts'
import type { ServedClient } from './resident.ts'
import { createLog, SILENT } from '@sandbridge/core/util'
import { visible } from '@sandbridge/core/serve/cli/terminal'
import { runTyped } from '@sandbridge/core/serve/cli/program.ts'
import { openTenant } from '@sandbridge/core/bridge'
import { page as part } from '@sandbridge/core/parts'
import { RemoteTerminal } from './remote-terminal.ts'
import { RESIDENT_COMMANDS } from '../wants-resident.ts'

/** A command that does not end with its terminal does not keep the resident. */
const END_MS = 2_500

/** @param own the settings that the command would have without a resident */
export function serveCommand(
  context: ClientContext,
  socket: Socket,
  { own, bridge }: { own: Settings; bridge: () => Promise<Bridge> },
): ServedClient {
  let remote: RemoteTerminal | undefined
  let running: Promise<void> | undefined
  const begin = (said: unknown): void => {
    const command = commandOf(said)
    // Others would read and end this process.
    if (!command || !RESIDENT_COMMANDS.has(command.words[0] ?? '')) return void socket.destroy()
    const here = new RemoteTerminal(socket, context, command, {
      open: async (ask) => {
        const wantsLog = context.env['MCP_BRIDGE_LOG_LEVEL']
        const write = (line: string): void => void here.terminal.stderr.write(line)
        const log = wantsLog ? createLog(own.logLevel, write) : SILENT
        for (const warning of own.warnings)
          if (wantsLog) log.warning(warning)
          else write(visible(`sandbridge: ${warning}\n`))
        const shared = await bridge()
        return openTenant(shared, shared.connect(context, log, { ask }))
      },
      page: async (port) => {
        const opened = await bridge()
        await opened.page.showServersOf(opened.connect(context, opened.log))
        const { service } = opened.page
        const isWanted = service !== undefined && [undefined, Number(new URL(service.address).port)].includes(port)
        return isWanted ? service : (await part.for('`sandbridge ui`')).servePage(opened, port ?? 0)
      },
      now: async () => {
        const { live, sessions } = await bridge()
        const folderOf = (id: string): string => {
          const session = sessions.find(id)
          return session ? sessions.tenantOf(session).context.cwd : ''
        }
        return { ...live, sessions: live.sessions.map((one) => ({ ...one, folder: folderOf(one.id) })) }
      },
    })
    remote = here
    running = runTyped(command.words, here.terminal).then(() => here.exit())
  }
  return {
    servers: () => [],
    receive: () => {},
    told: (said) => {
      if (remote) remote.told(said)
      else begin(said['run'])
    },
    end: async () => {
      await remote?.gone()
      await Promise.race([running, new Promise((resolve) => setTimeout(resolve, END_MS).unref())])
    },
  }
}
