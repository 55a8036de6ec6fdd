// An error of the bridge's own → the MCP tool result that the model reads, within its budget: a message may quote what the model had sent, at any length. Pure.
import { BridgeError, messageOf } from '../errors.ts'
import { cutMiddle } from '../text/cut-middle.ts'
import { fitsTokens } from '../text/estimate-tokens.ts'
import { type RenderedResult, type RenderOptions, written } from './render-result.ts'

/** Of a message and of a hint: each is a sentence or two, and more is somebody's data. */
const MAX_TOKENS = 500

/** @param more what else its reader is told */
export function renderFailure(
  error: unknown,
  {
    mode,
    outputTokens,
    structured,
    more,
  }: Pick<RenderOptions, 'mode' | 'outputTokens' | 'structured'> & { more?: string },
): RenderedResult {
  const share = Math.min(MAX_TOKENS, Math.floor(outputTokens / 2))
  const short = (text: string) => cutMiddle(text, share, () => '…')
  const isOurs = BridgeError.isInstance(error)
  const message = short(isOurs ? error.message : `sandbridge failed: ${messageOf(error)}`)
  const hint = short([isOurs && error.hint, more].filter(Boolean).join(' ')) || undefined
  const plain = hint === undefined ? message : `${message}\n${hint}`
  if (!isOurs) return { isError: true, content: [{ type: 'text', text: plain }] }
  const data = { status: 'error', error: { code: error.code, message, ...(hint !== undefined && { hint }) } }
  const text = mode === 'compact' ? plain : written(data, mode)
  const bothFit = fitsTokens(text + JSON.stringify(data), outputTokens)
  const isSent = bothFit && structured !== 'never'
  return { isError: true, content: [{ type: 'text', text }], ...(isSent && { structuredContent: data }) }
}
