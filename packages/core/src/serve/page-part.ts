// The page in the browser, as far as the core knows it.
import type { Bridge } from '../bridge/bridge.ts'
import type { AnswerPage } from '../calls/permissions/answer-page.ts'
import { Part } from '../util/part.ts'

export const page = new Part<PagePart>('the page')

interface PagePart {
  /** @param port 0 means any free port. @throws BridgeError CONFIG_INVALID when it cannot be listened on */
  servePage: (bridge: Bridge, port: number) => Promise<AnswerPage>
}
