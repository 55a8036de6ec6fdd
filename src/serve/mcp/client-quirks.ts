// How each tested client treats a result, and the form that the server therefore sends it. An unknown client gets the
// form that loses nothing: `structuredContent` only where the text is the whole result, because some clients show
// nothing else then. Pure.
import type { RenderOptions } from '../../cell/render/render-result.ts'

export interface ClientQuirks {
  /**
   * Estimated tokens that a result may cost, whatever the settings say. The client cuts or refuses a tenth more, and
   * the estimate may be a tenth too low.
   */
  maxOutputTokens?: number
  structured: NonNullable<RenderOptions['structured']>
  /** The client passes an error result to the model as JSON in a text, including the base64 of its images. */
  errorsAsJson?: boolean
}

const UNKNOWN: ClientQuirks = { structured: 'where-lossless' }

/** By the `name` in the client's clientInfo. Each comment starts with the version that was tested. */
const QUIRKS: Record<string, ClientQuirks> = {
  // 2.1.197. With structuredContent it drops content, including images (anthropics/claude-code#54737). Refuses more
  // than 25,000 tokens.
  'claude-code': { structured: 'never', maxOutputTokens: 22_500 },
  // 0.169.0. With structuredContent it drops content, including images. Above 10,000 tokens it cuts out the middle and
  // does not say where the rest is.
  'codex-mcp-client': { structured: 'never', maxOutputTokens: 9_000 },
  // 0.61.0. Reads content alone, but shows an error as the JSON of the whole result: structuredContent would be paid
  // for twice.
  'gemini-cli-mcp-client': { structured: 'never', errorsAsJson: true },
  // 1.18.33. Reads content; the images follow as a user message.
  opencode: { structured: 'never' },
  // 0.12.3. Its JSON output shows structuredContent in place of content.
  mcporter: { structured: 'never' },
  // 2.12.0. Shows both in full to a person.
  'mcp-inspector': { structured: 'always' },
  'inspector-cli': { structured: 'always' },
  // The AI SDK, 1.0.101. Without an output schema it reads content, including images.
  'ai-sdk-mcp-client': { structured: 'never' },
}

export function quirksOf(clientName: string | undefined): ClientQuirks {
  return clientName !== undefined && Object.hasOwn(QUIRKS, clientName) ? QUIRKS[clientName]! : UNKNOWN
}
