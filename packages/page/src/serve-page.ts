// Serves the page on a separate port, to this machine only.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { listen } from '@sandbridge/core/util/net'
import type { AnswerPage } from '@sandbridge/core/calls'
import { Connections } from '@sandbridge/http/requests/connections.ts'
import { PAGE_PATH, PageHandler } from './page-handler.ts'

const HOST = '127.0.0.1'
const REQUEST_MS = 30_000
/** As over HTTP: any program of this machine can connect, also one of another user. */
const CONNECTIONS = { connections: 512, strangers: 64, strangerMs: 10_000, newcomers: 512, newcomerMs: 2_000 }

export async function servePage(bridge: Bridge, port: number): Promise<AnswerPage> {
  const connections = new Connections(CONNECTIONS)
  const handler = new PageHandler(bridge, (socket) => connections.admit(socket))
  const timeouts = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 }
  const server = createServer(timeouts, (request, response) => {
    handler.answer(request, response).catch((error: unknown) => {
      bridge.log.error('Answering the page failed', { error })
      response.destroy()
    })
  })
  server.on('connection', (socket) => connections.add(socket))
  await listen(server, { port, host: HOST }).catch((cause: Error) => {
    throw new BridgeError('CONFIG_INVALID', `The page cannot be served at ${HOST}:${port}: ${cause.message}`, {
      cause,
      hint: 'Choose another port, or leave out `--port` to get a free one.',
    })
  })
  const { port: served } = server.address() as AddressInfo
  const origin = `http://${HOST}:${served}`
  const service: AnswerPage = {
    address: `${origin}${PAGE_PATH}#/ask`,
    get isOpen() {
      return handler.isOpen
    },
    newLink: (view) => handler.newLink(origin, view),
    linkTo: (question) => handler.linkTo(origin, question),
    close: () => {
      if (bridge.page.service === service) bridge.page.service = undefined
      handler.close()
      server.close()
      server.closeAllConnections()
    },
  }
  bridge.page.service = service
  return service
}
