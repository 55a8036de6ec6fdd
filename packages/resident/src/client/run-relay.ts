// `sandbridge run` where the user has a resident bridge: passes the client's messages to it.
import { cacheFolder, type ClientContext, processContext } from '@sandbridge/core/config/settings'
import { Relay, type TakenInput } from './relay.ts'
import { makeRunFolder } from '../reach/run-folder.ts'
import { endWithoutReader } from '@sandbridge/core/util/process/lost-reader.ts'
import { SIGNAL_EXIT_CODES } from '@sandbridge/core/util/process'
import { isOffInFile, ownResident } from '../own-resident.ts'

/** @param command serves the client in this process, where no resident can be had */
export async function relay(command: () => Promise<void>): Promise<void> {
  endWithoutReader()
  let context: ClientContext
  try {
    context = processContext()
  } catch {
    // The command says why.
    return command()
  }
  if (await isOffInFile(context)) return command()
  const log = (text: string): void => void process.stderr.write(text)
  const tell = (reason: string): void => log(`sandbridge: ${reason}. This client gets its own bridge.\n`)
  const started = await startRelay(log, (reason, taken) => {
    if (reason !== undefined) tell(reason)
    for (const signal of Object.keys(SIGNAL_EXIT_CODES)) process.removeAllListeners(signal)
    const { read, isOver, told } = taken
    if (isOver || told.length > 0) void import('./serve-in-child.ts').then(({ serveInChild }) => serveInChild(taken))
    else {
      process.stdin.unshift(read)
      // It was paused, and a listener does not resume what was.
      process.stdin.on('newListener', function resume(event) {
        if (event !== 'data') return
        process.stdin.off('newListener', resume)
        process.nextTick(() => process.stdin.resume())
      })
      void command().then(() => {
        // A failed start reads no input. What the client has said would keep this process.
        if (process.exitCode && process.stdin.listenerCount('data') === 0) process.stdin.destroy()
      })
    }
  })
  if (typeof started !== 'string') return undefined
  tell(`The resident bridge cannot be used: ${started}`)
  return command()
}

/** @returns why there is no relay */
async function startRelay(
  log: (text: string) => void,
  serveHere: (reason: string | undefined, taken: TakenInput) => void,
): Promise<undefined | string> {
  try {
    const own = await ownResident()
    makeRunFolder(own.place)
    const running = new Relay({
      ...own,
      cacheDir: cacheFolder(own.context),
      input: process.stdin,
      output: process.stdout,
      log,
      serveHere,
      exit: (code) => process.exit(code),
    })
    for (const [signal, code] of Object.entries(SIGNAL_EXIT_CODES)) process.once(signal, () => running.end(code))
    running.run()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
