// What packages use of util/async.
export { mapFew } from './map-few.ts'
export { letOthers, pauses, untilAborted, withTimeout } from './wait.ts'
export { Turns } from './turns.ts'
