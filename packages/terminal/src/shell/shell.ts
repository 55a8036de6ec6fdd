// `sandbridge shell`: runs cells that are typed at a prompt, in one session.
import path from 'node:path'
import type { AskInput } from '@sandbridge/core/config/entries'
import { TimeLimit, type Session } from '@sandbridge/core/cell'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { type Completions, completionsIn } from '@sandbridge/shared/terminal/completions.ts'
import { VERSION } from '@sandbridge/core/util'
import { count } from '@sandbridge/core/util/text'
import { reportFailure } from '@sandbridge/core/serve/cli/terminal'
import { askInTerminal } from '@sandbridge/shared/terminal/ask-in-terminal.ts'
import { closeBridge, openServers } from '@sandbridge/shared/open-bridge.ts'
import { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'
import { whileAsking } from '@sandbridge/shared/terminal/ask-in-terminal.ts'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'
import type { OpenTenant } from '@sandbridge/core/bridge'
import { runInTerminal } from '../cells/run-in-terminal.ts'
import { readHistory, writeHistory, ShellInput } from './shell-input.ts'

const TIMEOUT_MS = 10_000
/** ast.PyCF_ALLOW_TOP_LEVEL_AWAIT */
const TOP_LEVEL_AWAIT = 0x2000

const PROMPT = '>>> '
const PROMPT_MORE = '... '

export async function shell(options: { images?: string }, terminal: Terminal): Promise<void> {
  if (!terminal.stdin.isTTY || !terminal.stdout.isTTY) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'A shell needs a terminal', {
      hint: 'Use `sandbridge exec -c CODE`, or `sandbridge exec -` for code from a pipe.',
    })
  }
  const shown: Shown = {
    bar: new ProgressBar(terminal.stderr, terminal.context.env),
    images: options.images ?? '.',
    terminal,
  }
  const bridge = await openServers(terminal, askWithin(shown))
  // Ctrl-C interrupts the cell.
  terminal.onEnd(() => closeBridge(bridge, terminal), ['SIGTERM', 'SIGHUP'])
  terminal.onInterrupt(() => shown.running?.abort())
  try {
    const servers = count(bridge.discovered.servers.length, 'MCP server')
    terminal.print(`Sandbridge ${VERSION}: Python in a sandbox, with ${servers}.`)
    terminal.print('Tab completes, an empty line ends a block, Ctrl-C stops a cell, Ctrl-D ends.')
    await readAndRun(bridge, shown)
  } finally {
    await closeBridge(bridge, terminal)
  }
}

interface Shown {
  bar: ProgressBar
  images: string
  terminal: Terminal
  running?: AbortController | undefined
  timeLimit?: TimeLimit
}

async function readAndRun(bridge: OpenTenant, shown: Shown): Promise<void> {
  const session = bridge.openSession()
  const historyFile = path.join(bridge.settings.stateDir, '.sandbridge', 'shell-history')
  const lines: string[] = []
  const input = new ShellInput(shown.terminal, await readHistory(historyFile), (line) =>
    completionsAfter(bridge, session, [...lines, line].join('\n')),
  )
  for (;;) {
    const typed = await input.read(lines.length === 0 ? PROMPT : PROMPT_MORE)
    if (typed === 'ended') break
    if (typed === 'given up') {
      lines.length = 0
      continue
    }
    lines.push(typed.line)
    const code = lines.join('\n')
    if (code.trim() === '') lines.length = 0
    else if (lines.length === 1 && /^(exit|quit)(\(\))?$/.test(code.trim())) break
    if (lines.length === 0) continue
    input.release()
    if (await isUnfinished(bridge, session, code, shown.bar)) continue
    lines.length = 0
    await writeHistory(historyFile, input.history)
    await runOne(bridge, session, code, shown)
  }
  input.release()
  await writeHistory(historyFile, input.history)
  shown.terminal.stdout.write('\n')
}

/** Reports a failure of the bridge; the shell continues. */
async function runOne(bridge: OpenTenant, session: Session, code: string, shown: Shown): Promise<void> {
  const { timeoutMs } = bridge.settings
  shown.running = new AbortController()
  shown.timeLimit = new TimeLimit(timeoutMs)
  const cell = { code, timeoutMs, timeLimit: shown.timeLimit, signal: shown.running.signal }
  try {
    await runInTerminal(bridge, session, cell, shown)
  } catch (error) {
    reportFailure(error, shown.terminal)
  } finally {
    shown.running = undefined
  }
}

function askWithin(shown: Shown): AskInput | undefined {
  const inTerminal = askInTerminal(shown.terminal)
  return inTerminal && ((server, input) => whileAsking(shown, () => inTerminal(server, input)))
}

// What a shell asks its session's Python beside running cells: whether a statement is complete, and what could complete
// it. These run aside from the cells and leave no names behind: everything is imported inside an expression.

/**
 * Uses Python's rule for interactive prompts: a block continues until an empty line. Invalid Python counts as finished:
 * running it shows the error.
 */
async function isUnfinished(bridge: OpenTenant, session: Session, code: string, bar: ProgressBar): Promise<boolean> {
  const compiler = `(lambda c: (setattr(c.compiler, 'flags', c.compiler.flags | ${TOP_LEVEL_AWAIT}), c)[1])(__import__('codeop').CommandCompiler())`
  const request = {
    code: `print(${compiler}(${JSON.stringify(code)}, '<shell>', 'single') is None)`,
    timeoutMs: TIMEOUT_MS,
    aside: true,
  } as const
  const { stdout } = await bridge.cells.run(session, {
    ...request,
    listeners: { onPreparing: bar.listeners.onPreparing },
  })
  bar.clear()
  return stdout.trim() === 'True'
}

/** @param code the input up to the position to complete */
function completionsAfter(bridge: OpenTenant, session: Session, code: string): Promise<Completions> {
  return completionsIn((asked) => bridge.cells.run(session, { code: asked, timeoutMs: TIMEOUT_MS, aside: true }), code)
}
