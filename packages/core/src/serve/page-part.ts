// The page in the browser, as far as the core knows it.
import { Part } from '../util/part.ts'
import type { Bridge } from '../bridge/bridge.ts'
import type { AnswerPage } from '../calls/permissions/answer-page.ts'

export const page = new Part<PagePart>('the page')

interface PagePart {
  /** @param port 0 means any free port. @throws BridgeError CONFIG_INVALID when it cannot be listened on */
  servePage: (bridge: Bridge, port: number) => Promise<AnswerPage>
  /** @param given the value of `--ui`. @throws BridgeError CONFIG_INVALID for an invalid port */
  pageBeside: (given: string | true) => { serve(bridge: Bridge): Promise<void>; close(): void }
}

/** Serves a page from the first question that a client cannot ask its user here. @throws BridgeError CONFIG_INVALID */
export async function pageOnDemand(bridge: Bridge): Promise<void> {
  const { servePage } = await page.for('A question that the client cannot show')
  await servePage(bridge, 0)
}
