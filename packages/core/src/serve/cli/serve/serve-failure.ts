// Serves a client although the command line cannot be followed: the first call returns why, and a person sees that.
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { readSettings } from '../../../config/settings/settings.ts'
import { createServer } from '../../mcp/create-server.ts'
import { OpenRuns } from '../../mcp/runs/open-runs.ts'
import { StdioTransport } from '../../mcp/stdio-transport.ts'
import { createLog } from '../../../util/log.ts'

/** A client speaks as soon as it has started a server. */
const SILENT_MS = 1_000

/** Returns at once, and serves until the client closes its end. Ends the process when there is none. */
export function serveFailure(failure: unknown, exitCode: number): void {
  const end = (): never => process.exit(exitCode)
  const silent = setTimeout(end, SILENT_MS)
  process.stdin.once('data', () => clearTimeout(silent))
  const transport = new StdioTransport(end)
  for (const event of ['end', 'close']) process.stdin.once(event, () => void transport.answered().then(end))
  process.stdout.on('error', end)
  const runs = new OpenRuns()
  // What is wrong may be a setting.
  const settings = readSettings({}, { home: '/' })
  serveStdio(
    ({ era }) =>
      createServer({
        settings,
        log: createLog('error'),
        getConversation: () => Promise.reject(failure),
        runs,
        isModern: era === 'modern',
      }),
    { transport },
  )
}
