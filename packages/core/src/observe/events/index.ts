// What packages use of observe/events.
export type { Subscriber } from './event-stream.ts'
export { type BridgeEvent, type CallFlow, type CallKind, type EventOf, ofCell } from './event.ts'
export { LazySubscriber } from './lazy-subscriber.ts'
export { newId, shortId } from './new-id.ts'
export type { TraceContext } from './trace-context.ts'
