// Defines a method of the proxy: params that are parsed first, and a handler that receives everything it may use.
import type { z } from 'zod'
import type { CalledTools } from '../notes/called-tools.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { BridgeError } from '../../errors.ts'
import type { Cancellation } from '../../util/async/cancellation.ts'
import type { Origin } from '../../observe/events/event.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import type { Artifact } from '../../cell/cell-result.ts'
import type { CellListeners } from '../../cell/session/cell-run.ts'
import type { Asker, Questions } from '../questions/questions.ts'
import type { Session } from '../../cell/session/session.ts'
import type { SignInPage } from '../../upstream/sign-in-part.ts'
import type { SignInOptions, ToolResult } from '../../upstream/upstream.ts'
import type { Upstreams } from '../../upstream/upstream-set.ts'
import type { CellGate } from '../permissions/gates-part.ts'
import type { SandboxFacts } from '../capability-summary.ts'
import type { Learned } from '../learned-part.ts'
import type { CellJournal } from '../once-part.ts'
import type { SessionFlow } from '../flow-part.ts'
import type { UserState } from '../memories-part.ts'
import type { Scope } from '../scope.ts'
import type { UserQuota } from '../permissions/user-quota.ts'

/** Everything that all calls of one cell share. */
export interface CellContext {
  catalog: Catalog
  upstreams: Upstreams
  /**
   * Signs this cell's user in to a server; never another user.
   * @returns whether the sign-in counts for calls of this cell or only from the next cell on
   * @throws BridgeError as signing in does
   */
  signIn: (server: string, options: SignInOptions) => Promise<'now' | 'next-cell'>
  signInPage: SignInPage | undefined
  questions: Questions
  state: UserState
  /** For the capability summary. */
  facts: SandboxFacts
  events: EventStream
  origin: Origin
  /** Limits of its user; missing for a user without limits. */
  quota?: UserQuota | undefined
  scope: Scope
  /** The client that upstreams may ask something during calls. */
  asker: Asker | undefined
  /** Missing when every call is allowed. */
  permissions: CellGate | undefined
  session: Session
  /** Missing where flows are not followed. */
  flow: SessionFlow | undefined
  /** What its user's calls have taught. Missing where nothing is learned. */
  learned: Learned | undefined
  called: CalledTools
  /** Missing where calls are not journaled. */
  journal: CellJournal | undefined
  /** Notes for the reader of the cell's result, one sentence each. */
  notes: Set<string>
  /** Missing where the client shows no apps. */
  apps: CellApps | undefined
  /** Argument errors that its code has seen. */
  seenErrors: Set<string>
  savedArtifacts: Artifact[]
  /** A person at a terminal reads the cell's errors, not a model. */
  forPerson: boolean
  listeners: CellListeners | undefined
}

/** Keeps, for one session, the newest call of each tool of a server that has an app. */
export interface CellApps {
  /** Tells the model so. Never rejects. */
  keep(
    tool: CatalogTool,
    args: Readonly<Record<string, unknown>>,
    result: ToolResult,
    caller: CallContext,
  ): Promise<void>
}

export interface CallContext extends CellContext {
  signal: AbortSignal
}

export interface Handler {
  (params: unknown, context: CellContext, cancellation: Cancellation): unknown
  inRuntime?: (RuntimeFunction & { params: z.ZodType }) | undefined
}

/** A function of `mcp.runtime` that only calls its method: `npm run schema` writes it in Python. */
export interface RuntimeFunction {
  /** Missing: the method's own. */
  name?: string
  /** Its docstring. */
  doc: string
  /** What it returns, as a type of Python. */
  returns: 'None' | 'bool' | 'int' | 'float' | 'str' | 'Record' | 'list[str]' | 'list[Record]' | 'Any'
}

/** By the names in docs/protocol.md. */
export type Methods = Readonly<Record<string, Handler>>

/** A method whose reply holds nothing but words of the bridge and the cell. */
export function method<T>(...of: Parameters<typeof tellingMethod<T>>): Handler {
  const answer = tellingMethod(...of)
  const handler: Handler = (params, context, cancellation) => {
    const reply = answer(params, context, cancellation)
    return context.flow ? told(context.flow, reply) : reply
  }
  return Object.assign(handler, { inRuntime: answer.inRuntime })
}

/** Whose results may name fields in docs: the user's own; none where flows are followed, as docs are nobody's text. */
export function resultsFor({ flow, origin }: CellContext): { user: string | undefined } | undefined {
  return flow ? undefined : { user: origin.user }
}

async function told(flow: SessionFlow, reply: unknown): Promise<unknown> {
  const words = await reply
  flow.told(words)
  return words
}

/** A method whose reply holds what servers said or sessions kept: it tells the flow itself where that came from. */
export function tellingMethod<T>(
  schema: z.ZodType<T>,
  handle: (params: T, context: CallContext) => unknown,
  inRuntime?: RuntimeFunction,
): Handler {
  const handler: Handler = (params, context, { signal }) => {
    const parsed = schema.safeParse(params)
    if (!parsed.success) {
      const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'params'}: ${issue.message}`)
      throw new BridgeError('PROXY_ARGUMENTS_INVALID', problems.join('; '))
    }
    return handle(parsed.data, { ...context, signal })
  }
  return inRuntime ? Object.assign(handler, { inRuntime: { ...inRuntime, params: schema } }) : handler
}

export function lazyMethods<N extends string>(
  names: readonly N[],
  load: () => Promise<Readonly<Record<N, Handler>>>,
): Methods {
  let loading: Promise<Readonly<Record<N, Handler>>> | undefined
  const lazily =
    (name: N): Handler =>
    async (...call) =>
      (await (loading ??= load()))[name](...call)
  return Object.fromEntries(names.map((name) => [name, lazily(name)]))
}
