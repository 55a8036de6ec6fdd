// Chooses the files that this process runs from.
import { copiedProgram } from './package-copy.ts'
import { refuseBroken } from './refuse.ts'

/** Commands that run for as long as a cell or a client. Others end soon, and may be about the package itself. */
const LASTING = ['run', 'resident', 'exec', 'shell', 'ui', 'top', 'log', 'approve', 'run-workflow']

/** @param load `require`; missing in the sources */
export function start(load?: (name: string) => unknown): void {
  const words = process.argv.slice(2)
  const isQuestion = words.some((word) => ['-h', '--help', '-V', '--version'].includes(word))
  const command = words.find((word) => !word.startsWith('-')) ?? 'run'
  const program = LASTING.includes(command) && !isQuestion ? copiedProgram() : undefined
  try {
    if (program === undefined) import('./main.ts').catch(refuseBroken)
    else load!(`${program}/main.js`)
  } catch (error) {
    refuseBroken(error)
  }
}
