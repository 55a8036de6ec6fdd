// Asks a person in the terminal: for an input of a server, or to pick one of several choices. Asks only when
// stdin and stderr are both terminals; stdout is left to the command.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AskInput, ServerInput } from '@sandbridge/core/config/entries'
import type { TimeLimit } from '@sandbridge/core/cell'
import { visible, visibleInline } from '@sandbridge/core/util/text'
import type { ProgressBar } from './progress-bar.ts'
import { OWN_TERMINAL, type Terminal } from '@sandbridge/core/serve/cli/terminal'

export function hasTerminal({ stdin, stderr } = OWN_TERMINAL): boolean {
  return stdin.isTTY === true && stderr.isTTY === true
}

/** Undefined without a terminal to ask in. */
export function askInTerminal(terminal = OWN_TERMINAL): AskInput | undefined {
  if (!hasTerminal(terminal)) return undefined
  return async (server, input) => {
    terminal.stderr.write(visible(question(server, input)))
    if (input.options) return pick(input.options, terminal)
    return readLine('Value: ', input.password !== true, undefined, terminal)
  }
}

/**
 * A person may take longer to answer than a cell may run: pauses the time limit, hides the bar, and queues other
 * questions.
 */
export async function whileAsking<T>(
  { bar, timeLimit }: { bar: ProgressBar; timeLimit?: TimeLimit | undefined },
  ask: () => Promise<T>,
): Promise<T> {
  timeLimit?.pause()
  try {
    const asked = bar.asking.then(async () => {
      bar.hide()
      return ask().finally(() => bar.show())
    })
    bar.asking = asked.catch(() => {})
    return await asked
  } finally {
    timeLimit?.resume()
  }
}

/** @param otherwise what an empty answer means. @returns undefined for anything but a number of the list */
export async function pickOne(
  choices: readonly string[],
  otherwise: string,
  signal?: AbortSignal,
  terminal = OWN_TERMINAL,
): Promise<string | undefined> {
  for (const [index, choice] of choices.entries()) terminal.stderr.write(`  ${index + 1}. ${visibleInline(choice)}\n`)
  const typed = await readLine(`1 to ${choices.length}, or nothing ${otherwise}: `, true, signal, terminal)
  return typed !== undefined && /^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined
}

/** Discards what was typed before a question is shown, so that it is not taken as the answer. */
export async function forgetTyped(terminal: Terminal): Promise<void> {
  const { stdin } = terminal
  const onData = (chunk: Buffer): void => {
    if (chunk.includes(CTRL_C)) terminal.interrupt()
  }
  stdin.setRawMode?.(true)
  stdin.on('data', onData).resume()
  await sleep(TYPED_MS)
  stdin.off('data', onData).pause()
  stdin.setRawMode?.(false)
}

const CTRL_C = 3
/** Enough time for buffered input to arrive. */
const TYPED_MS = 50

function question(server: string, { id, description, options }: ServerInput): string {
  const what = description ? `${description} (input "${id}")` : `the input "${id}"`
  const choices = (options ?? []).map((option, index) => `  ${index + 1}. ${option}\n`)
  return `Server '${server}' needs ${what}.\n${choices.join('')}`
}

/** Accepts a number or a name. Undefined for an empty line and at the end of input. */
async function pick(options: readonly string[], terminal: Terminal): Promise<string | undefined> {
  for (;;) {
    const line = await readLine(`1 to ${options.length}: `, true, undefined, terminal)
    if (!line) return undefined
    const chosen = options.find((option) => option === line) ?? options[Number(line) - 1]
    if (chosen !== undefined) return chosen
  }
}

/** @param echo false hides what is typed. @returns undefined at the end of input */
export async function readLine(
  prompt: string,
  echo: boolean,
  signal?: AbortSignal,
  terminal = OWN_TERMINAL,
): Promise<string | undefined> {
  const { stdin, stderr } = terminal
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // With `terminal`, readline echoes to `nowhere`, not the system. The prompt comes after that: nothing typed shows.
  const lines = createInterface({
    input: stdin,
    output: echo ? stderr : nowhere,
    terminal: true,
    historySize: 0,
  })
  if (!echo) stderr.write(prompt)
  const left = new Promise<undefined>((resolve) => {
    lines.on('close', () => resolve(undefined))
    signal?.addEventListener('abort', () => lines.close(), { once: true })
    // The terminal does not turn Ctrl-C into a signal while readline reads.
    lines.on('SIGINT', () => terminal.interrupt())
  })
  try {
    return (await Promise.race([lines.question(echo ? prompt : ''), left]))?.trim()
  } finally {
    lines.close()
    if (!echo) stderr.write('\n')
  }
}
