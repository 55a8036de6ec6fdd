// The signal behind an exit code of a shell, engine or bubblewrap, by Linux's numbers. Pure.

const SIGNALS =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG'
    .split(' ')
    .map((name) => `SIG${name}` as NodeJS.Signals)

/** Returns the signal for a code of 128 + its number. */
export function exitSignal(code: number | null): NodeJS.Signals | undefined {
  return code === null ? undefined : SIGNALS[code - 129]
}
