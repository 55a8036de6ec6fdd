// Serves the page while the bridge serves clients. A failure of the page is printed and does not affect the clients.
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import type { AnswerPage } from '@sandbridge/core/calls'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'

export function pageBeside(given: string | true): { serve(bridge: Bridge): Promise<void>; close(): void } {
  const port = parsePort(given === true ? '0' : given)
  let page: AnswerPage | undefined
  return {
    serve: async (bridge) => {
      try {
        const { servePage } = await import('./serve-page.ts')
        page = await servePage(bridge, port)
        process.stderr.write(`The page opens once, within ten minutes, at ${page.newLink()}\n`)
      } catch (error) {
        process.stderr.write(`${messageOf(error)}\n`)
      }
    },
    close: () => page?.close(),
  }
}

/** @throws BridgeError CONFIG_INVALID */
export function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new BridgeError('CONFIG_INVALID', `${JSON.stringify(text)} is not a port`, {
    hint: 'Pass a number up to 65535.',
  })
}
