// What could stand at the end of some code, as the session's Python knows it. That is run aside from the cells, and leaves no names behind.

export interface Completions {
  words: string[]
  /** The end of the code that a word takes the place of. */
  replaced: string
}

/** @param code up to where the words are wanted */
export async function completionsIn(
  run: (code: string) => Promise<{ stdout: string }>,
  code: string,
): Promise<Completions> {
  // JSON writes a text as Python does.
  const complete = `__import__('mcp.runtime', fromlist=['complete']).complete(${JSON.stringify(code)})`
  const { stdout } = await run(`print(__import__('json').dumps(${complete}))`)
  const words: unknown = JSON.parse(stdout)
  const [, key] = /\bmcp_servers\[\s*["']([^"']*)$/.exec(code) ?? []
  const replaced = key ?? /[\p{L}\p{N}_]*$/u.exec(code)![0]
  return { words: Array.isArray(words) ? words.map(String).map(shown) : [], replaced }
}

/** The sandbox's words are shown where they could steer a terminal. */
function shown(word: string): string {
  return word.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
}
