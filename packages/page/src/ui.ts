// `sandbridge ui`: a link to the resident's page; without one, serves the page with a bridge of its own.
import { createInterface } from 'node:readline'
import { onShutdown } from '@sandbridge/core/util/process'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'
import { openBridge } from '@sandbridge/shared/open-bridge.ts'
import { parsePort } from './page-beside.ts'
import { servePage } from './serve-page.ts'

interface UiOptions {
  port?: string
  json?: boolean
}

/** @throws BridgeError CONFIG_INVALID for a port that is invalid or in use */
export async function ui({ port, json = false }: UiOptions, terminal: Terminal): Promise<void> {
  const number = port === undefined ? undefined : parsePort(port)
  const show = (link: string): void => terminal.print(json ? JSON.stringify({ link }) : link)
  if (terminal.resident) {
    show((await terminal.resident.page(number)).newLink())
    if (!json) terminal.stderr.write('The resident bridge serves the page. The link opens once, within ten minutes.\n')
    return
  }
  const bridge = await openBridge({ poolCount: 0 })
  const page = await servePage(bridge.bridge, number ?? 0)
  onShutdown(async () => {
    page.close()
    await bridge.close()
  })
  bridge.bridge.warmUp(bridge.tenant)
  show(page.newLink())
  const { stdin, stderr } = terminal
  if (!stdin.isTTY || json) return
  stderr.write('The link opens once, within ten minutes. Press Enter for a new one, Ctrl-C to end.\n')
  createInterface({ input: stdin }).on('line', () => show(page.newLink()))
}
