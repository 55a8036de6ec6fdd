// Completes code with the session's Python. Runs beside the cells and leaves no names in the namespace.

export interface Completions {
  words: string[]
  /** The end of the code that a completion replaces. */
  replaced: string
}

/** The texts that completions know: the name of a server, and what `get_prompt` and `read_resource` are given. */
const OPEN_TEXT = /\b(?:mcp_servers\[\s*|_?(?:get_prompt|read_resource)\((?:[^()"']|"[^"]*"|'[^']*')*)["']([^"']*)$/

/** @param code up to the position to complete */
export async function completionsIn(
  run: (code: string) => Promise<{ stdout: string }>,
  code: string,
): Promise<Completions> {
  // A JSON string is also a valid Python string.
  const complete = `__import__('mcp.runtime', fromlist=['complete']).complete(${JSON.stringify(code)})`
  const { stdout } = await run(`print(__import__('json').dumps(${complete}))`)
  const words: unknown = JSON.parse(stdout)
  const replaced = OPEN_TEXT.exec(code)?.[1] ?? /[\p{L}\p{N}_]*$/u.exec(code)![0]
  return { words: Array.isArray(words) ? words.map(String).map(shown) : [], replaced }
}

/** Removes control and format characters: the sandbox wrote the words, and they could steer a terminal. */
function shown(word: string): string {
  return word.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
}
