// What each client that was tried does with a result, and the form that it gets. A client that is not here gets the form that loses nothing:
// `structuredContent` only where the text is all there is, since some clients then show nothing else. Pure.
import type { RenderOptions } from '../render/render-result.ts'

export interface ClientQuirks {
  /** A result costs at most this many tokens by estimate, whatever the settings say: the client cuts or refuses a tenth more, and the estimate may be a tenth too low. */
  maxOutputTokens?: number
  structured: NonNullable<RenderOptions['structured']>
  /** A result that is marked as an error reaches the model as JSON in a text, base64 of its images included. */
  errorsAsJson?: boolean
}

const UNKNOWN: ClientQuirks = { structured: 'where-lossless' }

/** By the `name` that a client gives in its clientInfo; the version is the one that was tried. */
const QUIRKS: Record<string, ClientQuirks> = {
  // 2.1.197. With structuredContent it drops content, images included (anthropics/claude-code#54737). Refuses more than 25,000 tokens.
  'claude-code': { structured: 'never', maxOutputTokens: 22_500 },
  // 0.169.0. With structuredContent it drops content, images included. Cuts the middle out of more than 10,000 tokens, and does not say where the rest is.
  'codex-mcp-client': { structured: 'never', maxOutputTokens: 9_000 },
  // 0.61.0. Reads content alone, but an error as the JSON of all of the result: with structuredContent it pays twice for it.
  'gemini-cli-mcp-client': { structured: 'never', errorsAsJson: true },
  // 1.18.33. Reads content; its images follow as a message of the user.
  opencode: { structured: 'never' },
  // 0.12.3. Its JSON output shows structuredContent in place of content.
  mcporter: { structured: 'never' },
  // 2.12.0. Shows both in full, to a person.
  'mcp-inspector': { structured: 'always' },
  'inspector-cli': { structured: 'always' },
  // The AI SDK, 1.0.101. Without an output schema it reads content, images included.
  'ai-sdk-mcp-client': { structured: 'never' },
}

export function quirksOf(clientName: string | undefined): ClientQuirks {
  return clientName !== undefined && Object.hasOwn(QUIRKS, clientName) ? QUIRKS[clientName]! : UNKNOWN
}
