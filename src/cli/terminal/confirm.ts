// Asks a yes-or-no question in the terminal.
import { createInterface } from 'node:readline/promises'
import { BridgeError } from '../../errors.ts'
import { visible } from './print.ts'

/**
 * @param otherwise what an empty answer means
 * @throws BridgeError TOOL_ARGUMENTS_INVALID without a terminal to ask in
 */
export async function confirm(question: string, otherwise = false): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'No terminal to ask in', {
      hint: 'Pass --yes to skip the confirmation.',
    })
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = (await terminal.question(visible(question))).trim()
    return answer === '' ? otherwise : /^y(es)?$/i.test(answer)
  } finally {
    terminal.close()
  }
}
