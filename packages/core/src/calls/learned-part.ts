// What the calls of a user teach, as far as the core knows it.
import type { Store } from '../util/stores/store.ts'
import type { Log } from '../util/log.ts'
import { Part } from '../util/part.ts'
import type { CatalogTool } from './catalog/model/catalog-tool.ts'
import type { Shapes } from './catalog/model/shape.ts'

/** Without it, nothing is learned. */
export const learning = new Part<LearningPart>('learning from calls')

export interface LearningPart {
  /** What one user's use of tools has taught. */
  createLearned: (store: Store, log: Log) => Learned
}

export interface Learned {
  readonly shapes: Shapes
  /** Reads what was learned before, once. Never rejects. */
  ready(): Promise<void>
  /** The tools that a search in such words led to, each once, the most alike first. */
  ledTo(...wordings: readonly string[]): LearnedTool[]
  /** The last call of this tool that worked after an error, as a line. @param server `definitionKey` of its server */
  workedCall(server: string, tool: CatalogTool): string | undefined
  /** On how many of the last days the server was called. By day, so that it changes rarely. */
  daysOfUse(server: string): number
  /** Forgets what was learned of servers. */
  forget(servers: ReadonlySet<string>): Promise<void>
  /** Writes what is not written yet. Never rejects. */
  flush(): Promise<void>
  noteSearch(session: object, wordings: readonly string[], docs: readonly { server: string; tool: string }[]): void
  /** A call has ended with a result, which may say that the tool failed. */
  noteResult(place: CallPlace, tool: CatalogTool, args: Arguments, isFailure: boolean): void
  /** A call has ended with an error. Only one of the tool says something about its arguments. */
  noteError(place: CallPlace, tool: CatalogTool, args: Arguments, error: unknown): void
}

export interface CallPlace {
  session: object
  catalog: { of(server: string): { key: string } }
}

export type Arguments = Readonly<Record<string, unknown>>

/** A tool of a server with this definition, as it was when something was learned of it. */
export interface ToolIdentity {
  /** `definitionKey` of its server. */
  server: string
  name: string
  /** `toolFingerprint` of its definition. */
  print: string
}

/** A tool that an earlier search led to. */
export interface LearnedTool extends ToolIdentity {
  /** How alike both searches are, from 0 to 1. */
  likeness: number
}
