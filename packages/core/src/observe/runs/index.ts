// What packages use of observe/runs.
export { Ledger, type LedgerState, PAGE } from './ledger.ts'
export { type Call, type Run, type SessionState, type Shown, shownOf, stateAfter, type Told } from './run.ts'
