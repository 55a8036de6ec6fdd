// Text that fits a number of tokens: head and tail stay, and a line between says how much is missing. Pure.

/**
 * Tokens that a text costs at most, without a tokenizer. Words of English cost about a token for four characters, digits and punctuation about one
 * for two, everything outside of ASCII about one each; the bench compares this with o200k_base.
 */
export function estimateTokens(text: string): number {
  let dense = 0
  let wide = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) wide += 1
    else if (!isLetterOrSpace(code)) dense += 1
  }
  return Math.ceil((text.length - dense - wide) / 3.5 + dense / 1.5 + wide)
}

function isLetterOrSpace(code: number): boolean {
  const lower = code | 0x20
  return code === 0x20 || (lower >= 0x61 && lower <= 0x7a)
}

/** `text` as it is when it fits, else its head and tail. `tokens` is what the returned text costs by estimate. */
export function cutMiddle(text: string, maxTokens: number): { text: string; tokens: number } {
  const tokens = estimateTokens(text)
  if (tokens <= maxTokens) return { text, tokens }
  const kept = Math.floor((text.length * Math.max(maxTokens, 0)) / tokens / 2)
  const head = text.slice(0, kept)
  const tail = kept === 0 ? '' : text.slice(-kept)
  const missing = text.length - head.length - tail.length
  const line = `\n… ${missing} of ${text.length} characters are left out here; print less, or a part of it …\n`
  return { text: head + line + tail, tokens: Math.max(maxTokens, 0) }
}
