// What some clients do with a result that others do not. A client that is not here gets everything, up to what the settings allow. Pure.

export interface ClientQuirks {
  /** A result costs at most this many tokens by estimate, whatever the settings say: the client cuts or refuses a tenth more, and the estimate may be a tenth too low. */
  maxOutputTokens?: number
  /** It shows `structuredContent` instead of `content`, so that images are lost and JSON is paid for. */
  textOnly?: boolean
}

/** By the `name` that a client gives in its clientInfo. */
const QUIRKS: Record<string, ClientQuirks> = {
  // Drops content, images included, when structuredContent is there (anthropics/claude-code#54737); refuses more than 25,000 tokens.
  'claude-code': { textOnly: true, maxOutputTokens: 22_500 },
  // Cuts the middle out of more than 10,000 tokens, and says nothing of where the rest is.
  'codex-mcp-client': { maxOutputTokens: 9_000 },
}

/** For a client without a name, or one that nothing is known of, none. */
export function quirksOf(clientName: string | undefined): ClientQuirks {
  return clientName !== undefined && Object.hasOwn(QUIRKS, clientName) ? QUIRKS[clientName]! : {}
}
