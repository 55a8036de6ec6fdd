// Connects Node to the kernel: lines over an inherited socket.
import net from 'node:net'

/** @returns a function that sends a line */
export function openChannel(fd: number, onLine: (line: string) => void): (line: string) => void {
  const socket = new net.Socket({ fd, readable: true, writable: true })
  let parts: string[] = []
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    const [first = '', ...rest] = text.split('\n')
    parts.push(first)
    if (rest.length === 0) return
    const lines = [parts.join(''), ...rest.slice(0, -1)]
    parts = [rest.at(-1)!]
    for (const line of lines) onLine(line)
  })
  // Without the kernel, this process has no purpose.
  const { reallyExit } = process as unknown as { reallyExit: (code: number) => never }
  for (const event of ['close', 'error']) socket.on(event, () => reallyExit(0))
  return (line) => void socket.write(`${line}\n`)
}
