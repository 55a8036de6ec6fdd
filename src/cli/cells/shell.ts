// `sandbridge shell`: runs cells that are typed at a prompt, in one session.
import path from 'node:path'
import type { Bridge } from '../../bridge/bridge.ts'
import type { AskInput } from '../../config/entries/input-answers.ts'
import { TimeLimit } from '../../cell/time-limit.ts'
import { BridgeError } from '../../errors.ts'
import { onShutdown } from '../../util/process/shutdown.ts'
import type { Session } from '../../cell/session/session.ts'
import { VERSION } from '../../util/version.ts'
import { askInTerminal, whileAsking } from '../terminal/ask-in-terminal.ts'
import { closeBridge, openBridge } from '../terminal/open-bridge.ts'
import { print } from '../terminal/print.ts'
import { ProgressBar } from '../terminal/progress-bar.ts'
import { reportFailure } from '../terminal/report-failure.ts'
import { runInTerminal } from '../terminal/run-in-terminal.ts'
import { readHistory, writeHistory, ShellInput } from './shell-input.ts'
import { completionsAfter, isUnfinished } from './shell-questions.ts'

const PROMPT = '>>> '
const PROMPT_MORE = '... '

export async function shell(options: { images?: string }): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'A shell needs a terminal', {
      hint: 'Use `sandbridge exec -c CODE`, or `sandbridge exec -` for code from a pipe.',
    })
  }
  const terminal: Terminal = { bar: new ProgressBar(process.stderr), images: options.images ?? '.' }
  const bridge = await openBridge({ poolCount: 0 }, askWithin(terminal))
  // Ctrl-C interrupts the cell.
  onShutdown(() => closeBridge(bridge), { watchStdin: false, signals: ['SIGTERM', 'SIGHUP'] })
  process.on('SIGINT', () => terminal.running?.abort())
  try {
    const count = bridge.discovered.servers.length
    print(`Sandbridge ${VERSION}: Python in a sandbox, with ${count} MCP server${count === 1 ? '' : 's'}.`)
    print('Tab completes, an empty line ends a block, Ctrl-C stops a cell, Ctrl-D ends.')
    await readAndRun(bridge, terminal)
  } finally {
    await closeBridge(bridge)
  }
}

interface Terminal {
  bar: ProgressBar
  images: string
  running?: AbortController | undefined
  timeLimit?: TimeLimit
}

async function readAndRun(bridge: Bridge, terminal: Terminal): Promise<void> {
  const session = bridge.sessions.open()
  const historyFile = path.join(bridge.settings.stateDir, '.sandbridge', 'shell-history')
  const lines: string[] = []
  const input = new ShellInput(await readHistory(historyFile), (line) =>
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
    if (await isUnfinished(bridge, session, code, terminal.bar)) continue
    lines.length = 0
    await writeHistory(historyFile, input.history)
    await runOne(bridge, session, code, terminal)
  }
  input.release()
  await writeHistory(historyFile, input.history)
  process.stdout.write('\n')
}

/** Reports a failure of the bridge; the shell continues. */
async function runOne(bridge: Bridge, session: Session, code: string, terminal: Terminal): Promise<void> {
  const { timeoutMs } = bridge.settings
  terminal.running = new AbortController()
  terminal.timeLimit = new TimeLimit(timeoutMs)
  const cell = { code, timeoutMs, timeLimit: terminal.timeLimit, signal: terminal.running.signal }
  try {
    await runInTerminal(bridge, session, cell, terminal)
  } catch (error) {
    reportFailure(error)
  } finally {
    terminal.running = undefined
  }
}

function askWithin(terminal: Terminal): AskInput | undefined {
  const inTerminal = askInTerminal()
  return inTerminal && ((server, input) => whileAsking(terminal, () => inTerminal(server, input)))
}
