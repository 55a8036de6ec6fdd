// What could stand at the end of some code, as the session's Python knows it. That is a cell as well; it leaves no names behind.

/** @param code up to where the words are wanted */
export async function completionsIn(
  run: (code: string) => Promise<{ stdout: string }>,
  code: string,
): Promise<{ words: string[]; replaced: string }> {
  const { stdout } = await run(completionCode(code))
  const words: unknown = JSON.parse(stdout)
  const [, key] = /\bmcp_servers\[\s*["']([^"']*)$/.exec(code) ?? []
  const replaced = key ?? /[\p{L}\p{N}_]*$/u.exec(code)![0]
  return { words: Array.isArray(words) ? words.map(String).map(shown) : [], replaced }
}

/** The cell that asks. JSON writes a text as Python does. */
export function completionCode(code: string): string {
  const complete = `__import__('mcp.runtime', fromlist=['complete']).complete(${JSON.stringify(code)})`
  return `print(__import__('json').dumps(${complete}))`
}

/** The sandbox's words are shown where they could steer a terminal. */
function shown(word: string): string {
  return word.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
}
