// What a run cost its client in tokens, and what its calls would have cost without the sandbox. Pure.
import { estimateTokens } from '@sandbridge/core/util'
import type { Run } from '@sandbridge/core/observe/runs'

/** Approximate characters of text per token: counting tokens of every result would take longer than most calls. */
const CHARS_PER_TOKEN = 4

/** Estimated tokens in the results of its calls, which a client that calls tools itself puts into its context. */
export function calledTokens({ calledChars }: Pick<Run, 'calledChars'>): number {
  return Math.round(calledChars / CHARS_PER_TOKEN)
}

export function returnedTokens(content: readonly unknown[]): number {
  return content.reduce<number>((sum, block) => {
    const { text } = (block ?? {}) as { text?: unknown }
    return sum + (typeof text === 'string' ? estimateTokens(text) : 0)
  }, 0)
}
