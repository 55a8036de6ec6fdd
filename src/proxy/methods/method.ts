// What a method of the proxy is: params that are parsed before anything else happens, and a handler that is given all it may use.
import type { z } from 'zod'
import type { Catalog } from '../../catalog/catalog.ts'
import { BridgeError } from '../../errors.ts'
import type { Cancellation } from '../../process/cancellation.ts'
import type { Origin } from '../../events/event.ts'
import type { EventStream } from '../../events/event-stream.ts'
import type { UpstreamProgress } from '../../cell/upstream-progress.ts'
import type { Asker, Questions } from '../user/questions.ts'
import type { Session } from '../../session/session.ts'
import type { Artifact, ArtifactStore } from '../../state/artifact-store.ts'
import type { MemoryStore } from '../../state/memory-store.ts'
import type { ProjectStore } from '../../state/project-store.ts'
import type { Addition } from '../../registry/plan-addition.ts'
import type { Registries } from '../../registry/registries.ts'
import type { LoadableTools } from '../../state/loadable-tools.ts'
import type { SavedToolContent } from '../../state/saved-tool.ts'
import type { SavedToolStore } from '../../state/saved-tool-store.ts'
import type { Uploads } from '../../state/uploads.ts'
import type { SignInPage } from '../../upstream/auth/callback.ts'
import type { SignInOptions, Upstreams } from '../../upstream/upstream.ts'
import type { CellPermissions } from '../permissions/cell-permissions.ts'
import type { SandboxFacts } from '../capability-summary.ts'
import type { Scope } from '../scope.ts'
import type { UserQuota } from '../user/user-quota.ts'

interface ProxyOptions {
  catalog: Catalog
  upstreams: Upstreams
  /**
   * Sign the cell's user in to a server, and nobody else.
   * @returns whether the calls of this cell are made with it, or those of the next one
   * @throws BridgeError as `Upstreams.signIn` does
   */
  signIn: (server: string, options: SignInOptions) => Promise<'now' | 'next-cell'>
  signInPage: SignInPage | undefined
  questions: Questions
  artifacts: ArtifactStore
  memories: MemoryStore
  /** Missing when cells have no `/projects`. */
  projects: ProjectStore | undefined
  savedTools: SavedToolStore
  loadableTools: LoadableTools
  /** Loaded at the first need. */
  registries: () => Promise<Registries>
  addedServers: AddedServersAccess
  /** Take over what has changed in the files of the user's servers. */
  refreshServers: () => Promise<void>
  /** For the summary. */
  facts: SandboxFacts
  /** Load a tool in a fresh sandbox. @throws BridgeError STATE_REFUSED when it does not load */
  checkSavedTool: (tool: SavedToolContent) => Promise<void>
}

/** How a server of a registry becomes one of the user's. */
export interface AddedServersAccess {
  /** `podman` or `docker`. */
  engine(): Promise<string>
  /** In a jail, where one can be made. */
  jailed(addition: Addition): Promise<Addition>
  /** Start it once, and keep it. @throws BridgeError with why it did not start */
  add(addition: Addition, answers: ReadonlyMap<string, string>, signal: AbortSignal): Promise<unknown>
}

/** What all calls of one cell are served with. */
export interface CellContext extends ProxyOptions {
  events: EventStream
  /** The cell. */
  origin: Origin
  /** What its user may use up; missing for one that has no limits. */
  quota?: UserQuota | undefined
  scope: Scope
  /** Whom upstreams may ask something meanwhile. */
  asker: Asker | undefined
  /** Missing when every call is allowed. */
  permissions: CellPermissions | undefined
  session: Session
  /** What the reader of the cell's result should know, a sentence each. */
  notes: Set<string>
  /** The artifacts that the running cell has saved. */
  savedArtifacts: Artifact[]
  uploads: Uploads
  /** The cell's errors are read by a person at a terminal, not by a model. */
  forPerson: boolean
  /** Hears how far servers are with their calls. */
  onUpstreamProgress: ((progress: UpstreamProgress) => void) | undefined
}

export interface CallContext extends CellContext {
  signal: AbortSignal
}

export type Handler = (params: unknown, context: CellContext, cancellation: Cancellation) => unknown

export function method<T>(schema: z.ZodType<T>, handle: (params: T, context: CallContext) => unknown): Handler {
  return (params, context, { signal }) => {
    const parsed = schema.safeParse(params)
    if (!parsed.success) {
      const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'params'}: ${issue.message}`)
      throw new BridgeError('PROXY_ARGUMENTS_INVALID', problems.join('; '))
    }
    return handle(parsed.data, { ...context, signal })
  }
}
