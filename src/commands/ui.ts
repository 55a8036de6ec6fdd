// `sandbridge ui`: the page in the browser, with a bridge of its own, until a signal ends it.
import { createInterface } from 'node:readline'
import { onShutdown } from '../process/shutdown.ts'
import { servePage } from '../ui/serve-page.ts'
import { openBridge } from './open-bridge.ts'
import { parsePort } from './page-beside.ts'
import { print } from './print.ts'

interface UiOptions {
  port?: string
  json?: boolean
}

/** @throws BridgeError CONFIG_INVALID for a port that is none, or is taken */
export async function ui({ port = '0', json = false }: UiOptions): Promise<void> {
  const number = parsePort(port)
  const bridge = await openBridge(0)
  const page = await servePage(bridge, number)
  onShutdown(
    async () => {
      page.close()
      await bridge.close()
    },
    { watchStdin: false },
  )
  bridge.warmUp()
  const show = (): void => print(json ? JSON.stringify({ link: page.newLink() }) : page.newLink())
  show()
  if (!process.stdin.isTTY || json) return
  process.stderr.write('The link opens once, within ten minutes. Press Enter for a new one, Ctrl-C to end.\n')
  createInterface({ input: process.stdin }).on('line', show)
}
