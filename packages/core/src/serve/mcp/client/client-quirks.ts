// How each tested client treats a result, and the form that it therefore gets. An unknown one gets text and images:
// most that also get data pass both to the model, which pays twice, or drop the images. Pure.

export interface ClientQuirks {
  /** Estimated tokens that a result may cost, less a tenth: the client cuts or refuses more. */
  maxOutputTokens?: number
  /** The client gets the result as data, too (`structuredContent`). */
  withData?: boolean
  /** The client passes an error result to the model as JSON in a text, including the base64 of its images. */
  errorsAsJson?: boolean
  /** The client passes an error result to the model twice, as JSON, so no result is marked as one: its text says so. */
  errorsTwice?: boolean
  /** The client passes images to the model as base64 in a text, so it gets a link to an artifact in place of each. */
  picturesAsText?: boolean
  /** The client waits longer than a cell can take, although it asks for no progress. */
  waits?: boolean
}

/** By the `name` in the client's clientInfo. Each comment starts with the version that was tested. */
const QUIRKS: Record<string, ClientQuirks> = {
  // 2.1.197. Refuses more than 25,000 tokens.
  'claude-code': { maxOutputTokens: 22_500 },
  // 0.171.0. Above 10,000 tokens it cuts out the middle and does not say where the rest is.
  'codex-mcp-client': { maxOutputTokens: 9_000 },
  // 0.61.0. Shows an error as the JSON of the whole result.
  // Waits 10 minutes.
  'gemini-cli-mcp-client': { errorsAsJson: true, waits: true },
  // 0.24.4. Waits as long.
  'qwen-cli-mcp-client': { errorsTwice: true, waits: true },
  // 2.12.0. Shows both in full to a person.
  'mcp-inspector': { withData: true },
  'inspector-cli': { withData: true },
  // The extension for VS Code, and the command line 3.0.65.
  Cline: { picturesAsText: true },
  '@cline/core': { picturesAsText: true },
  // The extension for VS Code, and the command line 1.5.47.
  'continue-client': { picturesAsText: true },
  'continue-cli-client': { picturesAsText: true },
}

export function quirksOf(clientName: string | undefined): ClientQuirks {
  // Qwen Code adds the name under which the server is registered.
  const name = clientName?.replace(/^(qwen-cli-mcp-client)-.*/s, '$1')
  return name !== undefined && Object.hasOwn(QUIRKS, name) ? QUIRKS[name]! : {}
}
