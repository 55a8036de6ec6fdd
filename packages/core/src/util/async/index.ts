// What packages use of util/async.
export { mapFew } from './map-few.ts'
export { untilAborted, withTimeout } from './wait.ts'
