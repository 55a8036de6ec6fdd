// What packages use of cli/terminal.
export { indented, print, printEmpty, printer, printJson, printStyled, printSummary, printTable } from './print.ts'
export { tell, visible, visibleInline } from './print.ts'
export type { Cell, Printer, Style } from './print.ts'
export { reportFailure } from './report-failure.ts'
export { OWN_TERMINAL, type ResidentNow, type Terminal, type TerminalInput, type TerminalOutput } from './terminal.ts'
