// Answers to calls whose client would have given up: that a cell goes on, and later its result.
import type { CallToolResult } from '@modelcontextprotocol/server'
import { noticeLine } from '../../../cell/render/notice.ts'
import { written } from '../../../cell/render/render-result.ts'
import type { Settings } from '../../../config/settings/settings.ts'
import { estimateTokens } from '../../../util/tokens/estimate-tokens.ts'
import type { OpenRun } from './open-run.ts'

/** Left for the result of a call that brings others with it, whatever they cost. */
const MIN_TOKENS = 500

/** @param isOwn whether the cell is that of the call, not of one before it */
export function stillRunning(
  { progress, onShown, waitsForUser }: OpenRun,
  isOwn: boolean,
  mode: Settings['outputMode'],
): CallToolResult {
  const printed = progress.takePrinted()
  onShown?.(printed)
  const [which, missed] = isOwn ? ['This cell', ''] : ['An earlier cell', 'Your code has NOT run. ']
  const message =
    (waitsForUser
      ? `${which} waits for the user to answer a question. ${missed}`
      : `${which} has been running for ${Math.round(progress.ageMs / 1000)} s and goes on. ${missed}`) +
    'Call run_python again, with `pass` or the next code: it waits for that cell, and begins with its result.'
  const text =
    mode === 'compact'
      ? [...(printed === '' ? [] : [printed]), noticeLine(message)].join('\n')
      : written({ status: 'running', stdout: printed, notes: [message] }, mode)
  return { content: [{ type: 'text', text }] }
}

/** Puts the results of earlier cells before the result of a call. */
export function withEarlier(earlier: readonly CallToolResult[], result: CallToolResult): CallToolResult {
  const heading = (text: string) => ({ type: 'text' as const, text: noticeLine(text) })
  const before = earlier.flatMap(({ content }) => [heading('The earlier cell has ended. Its result:'), ...content])
  return { ...result, content: [...before, heading('The result of this call:'), ...result.content] }
}

/** What earlier results leave of a client's tokens for the next. */
export function tokensLeft(tokens: number, earlier: readonly CallToolResult[]): number {
  const texts = earlier.flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
  const spent = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
  return Math.max(tokens - spent, Math.min(tokens, MIN_TOKENS))
}
