// What a shell asks its session's Python besides running cells: whether a statement goes on, and what could stand at its end.
// These are cells as well. They leave no names behind: everything is imported within an expression.
import type { Bridge } from '../bridge.ts'
import type { Session } from '../session/session.ts'
import type { ProgressBar } from './progress-bar.ts'

const TIMEOUT_MS = 10_000
/** ast.PyCF_ALLOW_TOP_LEVEL_AWAIT */
const TOP_LEVEL_AWAIT = 0x2000

/** Python's own rule for an interactive prompt: a block goes on until an empty line. What is no Python at all is finished: running it tells why. */
export async function isUnfinished(bridge: Bridge, session: Session, code: string, bar: ProgressBar): Promise<boolean> {
  const compiler = `(lambda c: (setattr(c.compiler, 'flags', c.compiler.flags | ${TOP_LEVEL_AWAIT}), c)[1])(__import__('codeop').CommandCompiler())`
  const { onPreparing } = bar.listeners
  const request = { code: `print(${compiler}(${literal(code)}, '<shell>', 'single') is None)`, timeoutMs: TIMEOUT_MS }
  const { stdout } = await bridge.runCell(session, { ...request, onPreparing })
  bar.clear()
  return stdout.trim() === 'True'
}

/** @param code up to where the words are wanted */
export async function completionsIn(
  bridge: Bridge,
  session: Session,
  code: string,
): Promise<{ words: string[]; replaced: string }> {
  const complete = `__import__('mcp.runtime', fromlist=['complete']).complete(${literal(code)})`
  const request = { code: `print(__import__('json').dumps(${complete}))`, timeoutMs: TIMEOUT_MS }
  const { stdout } = await bridge.runCell(session, request)
  const words: unknown = JSON.parse(stdout)
  const [, key] = /\bmcp_servers\[\s*["']([^"']*)$/.exec(code) ?? []
  const replaced = key ?? /[\p{L}\p{N}_]*$/u.exec(code)![0]
  return { words: Array.isArray(words) ? words.map(String).map(shown) : [], replaced }
}

/** The sandbox's words are written to the terminal. */
function shown(word: string): string {
  return word.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
}

/** A text as Python writes it; JSON does it the same way. */
function literal(text: string): string {
  return JSON.stringify(text)
}
