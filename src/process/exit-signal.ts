// Which signal an exit code stands for: shells, container engines and bubblewrap pass the end of a program by a signal on as a code. Pure.
import { constants } from 'node:os'

/** The signal that 128 + its number stands for. */
export function exitSignal(code: number | null): NodeJS.Signals | undefined {
  const signals = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return signals.find(([, number]) => code === 128 + number)?.[0]
}
