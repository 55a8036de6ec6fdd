// What packages use of observe/events.
export type { Subscriber } from './event-stream.ts'
export type { BridgeEvent, CallFlow, EventOf } from './event.ts'
export { LazySubscriber } from './lazy-subscriber.ts'
export { newId, shortId } from './new-id.ts'
export type { TraceContext } from './trace-context.ts'
