// What packages use of upstream/reading.
export { unreadable } from './lenient-message.ts'
export { type Awaited, OpenRequests } from './open-requests.ts'
export { leadingValues, quote, type Reading, readText } from './read-text.ts'
export { DroppedError, type OnDropped, readable } from './words.ts'
