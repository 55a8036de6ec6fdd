// A page that a running bridge of this user serves already: that bridge makes a new link to it.
import { LiveClient } from '../live/live-client.ts'
import { type LiveBridge, liveBridges } from '../live/live-folder.ts'

interface FoundPage {
  bridge: LiveBridge
  link: string
}

/** @param port of the page that is wanted; missing means any. @returns the page of the bridge that has run longest */
export async function findPage(stateDir: string, port?: number): Promise<FoundPage | undefined> {
  const asked = await Promise.all((await liveBridges(stateDir)).map(async (bridge) => askForLink(bridge, port)))
  return asked.find((page) => page !== undefined)
}

async function askForLink(bridge: LiveBridge, port: number | undefined): Promise<FoundPage | undefined> {
  try {
    const client = await LiveClient.attach(bridge)
    const served = (await client.ask('page.link').finally(() => client.close())) as { link?: unknown; port?: unknown }
    const isWanted = typeof served.link === 'string' && (port === undefined || served.port === port)
    return isWanted ? { bridge, link: served.link as string } : undefined
  } catch {
    // It serves none, or is on its way out.
    return undefined
  }
}
