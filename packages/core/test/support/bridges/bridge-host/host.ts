// A process that plays many of the built program: what a bridge of a test does is done here, and its modules are
// compiled once for all of them. Started by hosted-process.ts.
import path from 'node:path'
import { HostedBundle } from './hosted-bundle.ts'
import type { FromHost, ToHost } from './messages.ts'
import { ProcessEnded, VirtualProcess } from './virtual-process.ts'

const bundles = new Map<string, HostedBundle>()
const running = new Map<number, VirtualProcess>()

const tell = (message: FromHost, done = (): void => {}): void => void process.send!(message, undefined, undefined, done)

process.on('message', (message: ToHost) => {
  const { id } = message
  if ('start' in message) {
    const folder = path.dirname(message.start.cli)
    const bundle = bundles.get(folder) ?? new HostedBundle(folder)
    bundles.set(folder, bundle)
    const one = new VirtualProcess(bundle, message.start, {
      write: (stream, chunk, done) => tell({ id, stream, chunk }, done),
      ended: (code, signal) => {
        running.delete(id)
        tell({ id, code, signal })
      },
    })
    running.set(id, one)
  } else if ('signal' in message) running.get(id)?.signal(message.signal)
  else if ('stdin' in message) running.get(id)?.stdin.push(message.stdin)
  else running.get(id)?.stdin.push(null)
})
// The process that tests run in is gone.
process.on('disconnect', () => process.exit())

const unlessEnded = (error: unknown): void => {
  if (error instanceof ProcessEnded) return
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(1)
}
process.on('uncaughtException', unlessEnded)
process.on('unhandledRejection', unlessEnded)
