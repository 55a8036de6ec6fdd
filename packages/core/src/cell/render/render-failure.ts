// Renders an error of the bridge as a result within the budget: it may quote model input of any length. Pure.
import { BridgeError, messageOf } from '../../errors.ts'
import { cutMiddle } from '../../util/tokens/cut-middle.ts'
import { fitsTokens } from '../../util/tokens/estimate-tokens.ts'
import { fromOthers } from './notice.ts'
import { type RenderedResult, type RenderOptions, written } from './render-result.ts'

/** Per message and hint. Each has a sentence or two; anything longer is quoted data. */
const MAX_TOKENS = 500

/** @param more further text for the reader */
export function renderFailure(
  error: unknown,
  {
    mode,
    outputTokens,
    withData = false,
    more,
  }: Pick<RenderOptions, 'mode' | 'outputTokens' | 'withData'> & { more?: string },
): RenderedResult {
  const share = Math.min(MAX_TOKENS, Math.floor(outputTokens / 2))
  // A message may quote a server.
  const short = (text: string) => cutMiddle(fromOthers(text), share, () => '…')
  const isOurs = BridgeError.isInstance(error)
  const message = short(isOurs ? error.message : `sandbridge failed: ${messageOf(error)}`)
  const hint = short([isOurs && error.hint, more].filter(Boolean).join(' ')) || undefined
  const plain = hint === undefined ? message : `${message}\n${hint}`
  if (!isOurs) return { isError: true, content: [{ type: 'text', text: plain }] }
  const data = { status: 'error', error: { code: error.code, message, ...(hint !== undefined && { hint }) } }
  const text = mode === 'compact' ? plain : written(data, mode)
  const isSent = withData && fitsTokens(text + JSON.stringify(data), outputTokens)
  return { isError: true, content: [{ type: 'text', text }], ...(isSent && { structuredContent: data }) }
}
