// What a shell asks its session's Python besides running cells: whether a statement goes on, and what could stand at its end.
// That is run aside from the cells, and leaves no names behind: everything is imported within an expression.
import type { Bridge } from '../bridge.ts'
import { type Completions, completionsIn } from '../session/completions.ts'
import type { Session } from '../session/session.ts'
import type { ProgressBar } from './progress-bar.ts'

const TIMEOUT_MS = 10_000
/** ast.PyCF_ALLOW_TOP_LEVEL_AWAIT */
const TOP_LEVEL_AWAIT = 0x2000

/** Python's own rule for an interactive prompt: a block goes on until an empty line. What is no Python at all is finished: running it tells why. */
export async function isUnfinished(bridge: Bridge, session: Session, code: string, bar: ProgressBar): Promise<boolean> {
  const compiler = `(lambda c: (setattr(c.compiler, 'flags', c.compiler.flags | ${TOP_LEVEL_AWAIT}), c)[1])(__import__('codeop').CommandCompiler())`
  const { onPreparing } = bar.listeners
  const request = {
    code: `print(${compiler}(${literal(code)}, '<shell>', 'single') is None)`,
    timeoutMs: TIMEOUT_MS,
    aside: true,
  } as const
  const { stdout } = await bridge.cells.run(session, { ...request, onPreparing })
  bar.clear()
  return stdout.trim() === 'True'
}

/** @param code up to where the words are wanted */
export function completionsAfter(bridge: Bridge, session: Session, code: string): Promise<Completions> {
  return completionsIn((asked) => bridge.cells.run(session, { code: asked, timeoutMs: TIMEOUT_MS, aside: true }), code)
}

/** A text as Python writes it; JSON does it the same way. */
function literal(text: string): string {
  return JSON.stringify(text)
}
