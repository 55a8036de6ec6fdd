// What a terminal says of itself when it is asked.

/** The answer to "primary device attributes", with 4 among its numbers where sixels are shown. See the control sequences of xterm. */
// oxlint-disable-next-line no-control-regex
const ANSWER = /\x1b\[\?([\d;]+)c/
const QUESTION = '\x1b[c'
const SIXEL = '4'
/** Every terminal answers at once; through a slow connection it may take this long. */
const WAIT_MS = 500
const MAX_CHARS = 1_000

let asked: Promise<boolean> | undefined

/** Whether the terminal of this process shows sixels. It is asked once. What is typed in that moment is lost. */
export function showsSixels(): Promise<boolean> {
  asked ??= ask(process.stdin, process.stdout)
  return asked
}

async function ask(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<boolean> {
  if (!input.isTTY || !output.isTTY || process.env['TERM'] === 'dumb') return false
  const wasRaw = input.isRaw
  input.setRawMode(true)
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
    input.setRawMode(wasRaw)
  }
}
