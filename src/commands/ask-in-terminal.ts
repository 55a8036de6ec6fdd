// Asks for an input of a server in the terminal. Where one of stdin and stderr is no terminal, nobody is asked; stdout stays the command's.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { AskInput } from '../config/input-answers.ts'
import type { ServerInput } from '../config/server-definition.ts'
import { safeForTerminal } from '../text/terminal-text.ts'

/** Undefined where there is no terminal to ask in. */
export function askInTerminal(): AskInput | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  return async (server, input) => {
    process.stderr.write(safeForTerminal(question(server, input)))
    if (input.options) return pick(input.options)
    return readLine('Value: ', input.password !== true)
  }
}

function question(server: string, { id, description, options }: ServerInput): string {
  const what = description ? `${description} (input "${id}")` : `the input "${id}"`
  const choices = (options ?? []).map((option, index) => `  ${index + 1}. ${option}\n`)
  return `Server '${server}' needs ${what}.\n${choices.join('')}`
}

/** By number or by name. An empty line, as the end of input, is no answer. */
async function pick(options: readonly string[]): Promise<string | undefined> {
  for (;;) {
    const line = await readLine(`1 to ${options.length}: `, true)
    if (!line) return undefined
    const chosen = options.find((option) => option === line) ?? options[Number(line) - 1]
    if (chosen !== undefined) return chosen
  }
}

/** @param echo false keeps what is typed off the screen */
async function readLine(prompt: string, echo: boolean): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // As a terminal it takes over the echo from the system, and then writes it nowhere. The prompt comes afterwards: what is typed at it is not shown.
  const terminal = createInterface({
    input: process.stdin,
    output: echo ? process.stderr : nowhere,
    terminal: true,
    historySize: 0,
  })
  if (!echo) process.stderr.write(prompt)
  const left = new Promise<undefined>((resolve) => {
    terminal.on('close', () => resolve(undefined))
    // The terminal does not turn Ctrl-C into a signal while we read.
    terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  })
  try {
    return (await Promise.race([terminal.question(echo ? prompt : ''), left]))?.trim()
  } finally {
    terminal.close()
    if (!echo) process.stderr.write('\n')
  }
}
