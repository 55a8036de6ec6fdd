// What packages use of util/async.
export { mapFew } from './map-few.ts'
export { letOthers, untilAborted, withTimeout } from './wait.ts'
