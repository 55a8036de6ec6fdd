// Asks a terminal for its capabilities.
import type { Terminal } from '@sandbridge/core/cli/terminal'

/**
 * The response to "primary device attributes", with a 4 if sixels are supported. See the control sequences of xterm.
 */
// oxlint-disable-next-line no-control-regex
const ANSWER = /\x1b\[\?([\d;]+)c/
const QUESTION = '\x1b[c'
const SIXEL = '4'
/** Terminals respond at once; a slow connection may take this long. */
const WAIT_MS = 500
const MAX_CHARS = 1_000

const asked = new WeakMap<Terminal, Promise<boolean>>()

/** Whether the terminal supports sixels. Asked once. Input typed at that moment is lost. */
export function showsSixels(terminal: Terminal): Promise<boolean> {
  const known = asked.get(terminal) ?? ask(terminal)
  asked.set(terminal, known)
  return known
}

async function ask({ stdin: input, stdout: output, context }: Terminal): Promise<boolean> {
  if (!input.isTTY || !output.isTTY || context.env['TERM'] === 'dumb') return false
  const wasRaw = input.isRaw === true
  input.setRawMode?.(true)
  try {
    return await new Promise<boolean>((resolve) => {
      let heard = ''
      const settle = (shows: boolean): void => {
        clearTimeout(timer)
        input.off('data', onData)
        input.pause()
        resolve(shows)
      }
      const onData = (data: Buffer): void => {
        heard = (heard + data.toString('latin1')).slice(-MAX_CHARS)
        const numbers = ANSWER.exec(heard)?.[1]
        if (numbers !== undefined) settle(numbers.split(';').includes(SIXEL))
      }
      const timer = setTimeout(() => settle(false), WAIT_MS)
      input.on('data', onData)
      output.write(QUESTION)
    })
  } finally {
    input.setRawMode?.(wasRaw)
  }
}
