// What packages use of upstream/connection.
export type { MessageObserver } from './message-tap.ts'
export { loadSdk, type Sdk } from './sdk.ts'
