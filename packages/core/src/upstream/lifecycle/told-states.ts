// Emits events about a server's state and how long the previous state lasted.
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { messageOf } from '../../errors.ts'
import type { Events } from '../../observe/events/event.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import { newId } from '../../observe/events/new-id.ts'
import { StartFailedError } from '../failures/failures.ts'

type Rest = Partial<Pick<Events['server.state'], 'protocolVersion' | 'error' | 'durationMs'>>

export class ToldStates {
  readonly #definition: ServerDefinition
  readonly #events: EventStream
  /** Event id of the latest start. */
  #id = ''
  /** When the current state began. */
  #since = 0

  constructor(definition: ServerDefinition, events: EventStream) {
    this.#definition = definition
    this.#events = events
  }

  /** How long the current state has lasted, in milliseconds. */
  get stateMs(): number {
    return performance.now() - this.#since
  }

  starting(): void {
    this.#id = newId()
    this.#since = performance.now()
    this.#emit('starting', {})
  }

  /** The start goes on, and takes as long as an installation does. */
  installing(): void {
    this.#emit('installing', { durationMs: this.stateMs })
  }

  changed(state: Events['server.state']['state'], rest: Rest = {}): void {
    this.#emit(state, { durationMs: this.stateMs, ...rest })
    this.#since = performance.now()
  }

  #emit(state: Events['server.state']['state'], rest: Rest): void {
    const { name: server, transport } = this.#definition
    this.#events.emit({ type: 'server.state', id: this.#id, server, state, transport: transport.type, ...rest })
  }
}

export function startErrorOf(error: unknown): { code: string; message: string } {
  const { message, code = 'INTERNAL' } = (error instanceof StartFailedError ? error.failure.error : error) as {
    message?: string
    code?: string
  }
  return { code, message: message ?? messageOf(error) }
}
