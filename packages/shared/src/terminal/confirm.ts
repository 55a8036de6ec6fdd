// Asks a yes-or-no question in the terminal.
import { createInterface } from 'node:readline/promises'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { visible } from '@sandbridge/core/serve/cli/terminal'

/**
 * @param otherwise what an empty answer means
 * @throws BridgeError TOOL_ARGUMENTS_INVALID without a terminal to ask in, CANCELLED after Ctrl-C or Ctrl-D
 */
export async function confirm(question: string, otherwise = false): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'No terminal to ask in', {
      hint: 'Pass --yes to skip the confirmation.',
    })
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // Its question would never end then, and Node would end the process as if all were well.
  const left = new Promise<never>((_resolve, reject) => {
    for (const event of ['SIGINT', 'close'])
      terminal.once(event, () => reject(new BridgeError('CANCELLED', 'The question was not answered')))
  })
  try {
    const answer = (await Promise.race([terminal.question(visible(question)), left])).trim()
    return answer === '' ? otherwise : /^y(es)?$/i.test(answer)
  } finally {
    terminal.close()
  }
}
