// Finds the signal behind an exit code: shells, container engines and bubblewrap report death by a signal as an exit
// code. Pure.
import { constants } from 'node:os'

/** Returns the signal for a code of 128 + its number. */
export function exitSignal(code: number | null): NodeJS.Signals | undefined {
  const signals = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return signals.find(([, number]) => code === 128 + number)?.[0]
}
