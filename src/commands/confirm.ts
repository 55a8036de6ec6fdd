// Asks a yes-or-no question in the terminal.
import { createInterface } from 'node:readline/promises'
import { BridgeError } from '../errors.ts'
import { visible } from './print.ts'

/** @throws BridgeError TOOL_ARGUMENTS_INVALID without a terminal to ask in */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'No terminal to ask in', {
      hint: 'Pass --yes to skip the confirmation.',
    })
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question(visible(question))).trim())
  } finally {
    terminal.close()
  }
}
