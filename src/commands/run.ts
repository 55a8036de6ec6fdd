// `sandbridge run`: serves one client over stdio until it goes away, then ends everything that was started for it.
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createServer } from '../server/create-server.ts'
import { onShutdown } from '../shutdown.ts'
import { openBridge } from './open-bridge.ts'

export async function run(): Promise<void> {
  const bridge = await openBridge()
  const session = bridge.openSession()
  const handle = serveStdio(() => createServer(bridge, session), {
    onerror: (error) => bridge.log.debug('MCP', { error }),
  })
  onShutdown(async () => {
    await Promise.allSettled([handle.close(), bridge.close()])
  })
}
