// What packages use of observe/runs.
export { stateAfter } from './call-state.ts'
export { Ledger, type LedgerState, PAGE } from './ledger.ts'
export { calledTokens, returnedTokens } from './run-cost.ts'
export type { Call, Run, SessionState, Told } from './run.ts'
export { type Shown, shownOf } from './shown.ts'
