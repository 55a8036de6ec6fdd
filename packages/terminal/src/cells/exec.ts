// `sandbridge exec`: runs one cell from the terminal, on the same path as a client's, with output for a person.
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { AskInput } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { MAX_FRAME_BYTES, TimeLimit } from '@sandbridge/core/cell'
import { pythonLiteral } from '@sandbridge/core/calls/catalog'
import { parseRunPythonArguments } from '@sandbridge/core/serve/mcp'
import { askInTerminal, whileAsking } from '@sandbridge/shared/terminal/ask-in-terminal.ts'
import { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'
import { withServers } from '@sandbridge/shared/open-bridge.ts'
import type { Terminal, TerminalInput } from '@sandbridge/core/serve/cli/terminal'
import { runInTerminal } from './run-in-terminal.ts'
import { decodeText, encodingOf } from '@sandbridge/core/util/bytes'
import { readAtMost } from '@sandbridge/shared/unpack/decoded.ts'
import { readFailure } from '@sandbridge/core/util/files'
import { nearestName } from '@sandbridge/core/util/text'
import type { Command } from '@sandbridge/core/serve/cli'

interface ExecOptions {
  code?: string
  servers?: string
  timeout?: string
  json?: boolean
  images?: string
}

/** Sets the exit code: 0 when the cell succeeded, 4 when calls of it were refused or failed, and 1 otherwise. */
export async function exec(
  file: string | undefined,
  args: readonly string[],
  options: ExecOptions,
  terminal: Terminal,
  command: Command,
): Promise<void> {
  // The parser takes what it does not know for an argument of the file.
  if (file !== undefined && /^-./.test(file)) {
    const known = [...command.shownOptions.map(({ long }) => long!), '--verbose', '--help']
    const meant = nearestName(file, known)
    const suggestion = meant === undefined ? '' : ` (Did you mean ${meant}?)`
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `unknown option '${file}'${suggestion}`, {
      hint: 'See `sandbridge exec --help`.',
    })
  }
  const code = await readCode(file, options.code, terminal)
  const bar = new ProgressBar(terminal.stderr, terminal.context.env)
  let timeLimit: TimeLimit | undefined
  const inTerminal = askInTerminal(terminal)
  const ask: AskInput | undefined =
    inTerminal && ((server, input) => whileAsking({ bar, timeLimit }, () => inTerminal(server, input)))
  await withServers(
    terminal,
    async (bridge) => {
      const request = parseRunPythonArguments(
        {
          code,
          ...(options.servers !== undefined && { servers: splitNames(options.servers) }),
          ...(options.timeout !== undefined && { timeout: options.timeout }),
        },
        bridge.settings,
      )
      timeLimit = new TimeLimit(request.timeoutMs)
      const cell = { ...request, timeLimit }
      const shown = { bar, json: options.json === true, images: options.images ?? '.', endsSession: true, terminal }
      const session = bridge.openSession()
      if (file !== undefined && (args.length > 0 || OF_FILES.test(code))) {
        // A cell of its own: the lines of the file keep their numbers.
        const words = pythonLiteral([file, ...args], Infinity)
        const argv = `import sys\nsys.argv[:] = ${words}\n__file__ = sys.argv[0]\ndel sys`
        await bridge.cells.run(session, { ...cell, code: argv, run: { client: 'terminal' } })
      }
      terminal.exitCode = await runInTerminal(bridge, session, cell, shown)
    },
    ask,
    true,
  )
}

/** What tells that code reads how it was started. */
const OF_FILES = /\b(?:argv|argparse|__file__)\b/

async function readCode(
  file: string | undefined,
  code: string | undefined,
  { stdin, context }: Terminal,
): Promise<string> {
  if (code !== undefined && file === undefined) return code
  if (code !== undefined || file === undefined) {
    const both = code === undefined ? '' : ', not both'
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Pass a Python file, or -c CODE${both}`, {
      hint: 'For example: sandbridge exec -c "1 + 1"',
    })
  }
  if (file === '-') return textOf(await readInput(stdin), 'The code from standard input')
  const read = await readFile(path.resolve(context.cwd, file)).catch((cause: unknown) => {
    const why = readFailure(cause, (other) => other || 'unknown error')
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `The file '${file}' cannot be read: ${why}`, {
      cause,
      hint: 'Pass -c CODE to run code directly.',
    })
  })
  return textOf(read, `The file '${file}'`)
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID for other bytes than text, which decoding would replace */
function textOf(bytes: Buffer, what: string): string {
  if (isUtf8(bytes) || encodingOf(bytes) !== 'utf-8') return decodeText(bytes, false)
  const text = bytes.toString()
  const decoded = Buffer.from(text)
  const wrong = bytes.findIndex((byte, at) => byte !== decoded[at])
  // A character that the end cuts off may differ only after it.
  const offset = wrong === -1 ? bytes.length - 1 : wrong
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `${what} is not UTF-8: see its byte ${offset}`, {
    hint: 'Save it as UTF-8. Pass data as a file that the cell reads.',
  })
}

/** No more than a sandbox could take: a resident reads the input of many commands. */
function readInput(stdin: TerminalInput): Promise<Buffer> {
  const tooLong = (): BridgeError =>
    new BridgeError('TOOL_ARGUMENTS_INVALID', `The code is longer than ${MAX_FRAME_BYTES / 2 ** 20} MiB`, {
      hint: 'Pass data as a file that the cell reads, and only code as its code.',
    })
  return readAtMost(stdin as AsyncIterable<Buffer>, MAX_FRAME_BYTES, tooLong)
}

function splitNames(names: string): string[] {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
}
