// The gate between a cell and the servers: every call passes `admit` with the arguments that are sent, however the cell
// makes it. Waiting calls of one tool with the same argument names form one question, and questions are asked one at a
// time. Anything but a clear yes in time counts as a no. A yes is for the calls that were shown.
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallKind, newId, ofCell } from '@sandbridge/core/observe/events'
import type { CatalogTool, ServerMethod } from '@sandbridge/core/calls/catalog'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { visibleInline } from '@sandbridge/core/util/text'
import type { Decision, Policy, Subject, TrustedText } from '@sandbridge/core/config/rules'
import type { Counts } from './limits.ts'
import type { Answer, NoAnswer } from './ask-by-elicitation.ts'
import { type Asked, askUser } from './ask-user.ts'
import { deniedByAnswer, deniedByLimit, deniedByRule } from './denied.ts'
import { CellGrants, shapeKey } from './grants.ts'
import type { Admitted, Cancellable, CellGate, CellOf, SeenToolCall } from '@sandbridge/core/parts'
import type { Permissions } from '@sandbridge/core/calls'
import { flowsOf } from './rules/declared-flows.ts'
import { flowKey } from './rules/flow.ts'
import { asSent, frozenCopy, validate } from './rules/policy.ts'
import { callsText, trustText } from './question-text.ts'
import { type SetState, stateOf } from './set-state.ts'

type Arguments = Record<string, unknown>

/** What a call is in events. Of a list of tools there is none. */
const KINDS = {
  call_tool: 'tool',
  list_tools: 'tool',
  get_prompt: 'prompt',
  read_resource: 'resource',
  prompts: 'prompts',
  resources: 'resources',
} as const satisfies Record<ServerMethod | 'call_tool', CallKind>

/** A call that waits until the user has answered. */
interface Waiting extends Asked {
  signal: AbortSignal
  settle: (refusal: BridgeError | undefined) => void
}

/** A call found in a cell's source, that the rules ask about. */
interface SeenAsked extends Asked {
  index: number
  /** Whether all its arguments are known. */
  isExact: boolean
}

/**
 * Calls made at once arrive one by one: gather until none has arrived for this long, so that they become one question.
 */
const GATHER_MS = 100
const MAX_GATHERINGS = 10
/** Of the tools that an error names. */
const MAX_NAMED = 5
/** Per cell. */
const MAX_WAITING = 1_000

export class CellPermissions implements CellGate {
  readonly #permissions: Permissions
  readonly #state: SetState
  readonly #cell: CellOf
  #policy: Policy
  readonly #counts: Counts = new Map()
  readonly #grants = new CellGrants()
  readonly #waiting: Waiting[] = []
  #isAsking = false
  /** The user has stopped the code: whatever it catches, it makes no more calls. */
  #isStopped = false

  constructor(permissions: Permissions, cell: CellOf, policy: Policy) {
    this.#permissions = permissions
    this.#state = stateOf(permissions)
    this.#cell = cell
    this.#policy = policy
  }

  get #policyNow(): Policy {
    return (this.#policy = this.#permissions.policyOf(this.#cell.userRules) ?? this.#policy)
  }

  /**
   * Rules are applied to the known tools, so refresh them from the server, unless the preset is open.
   * @returns undefined if there is nothing to wait for
   */
  ready(server: string, call: Cancellable): Promise<void> | undefined {
    const { preset, judgesFlow } = this.#policyNow
    return preset !== 'open' || judgesFlow ? this.#permissions.options.catalog.compared(server, call) : undefined
  }

  refuseStopped(): void {
    if (this.#isStopped) throw new BridgeError('PERMISSION_DENIED', 'The user has stopped this code', { hint: STOPPED })
  }

  refuseDenied(tool: CatalogTool, args?: Arguments): void {
    const subject = this.#permissions.subject(tool)
    const isDenied = args ? this.#judge(subject, args).verdict === 'deny' : this.#policyNow.isDenied(subject)
    if (isDenied) throw this.#deny(tool, args ?? {})
  }

  async admit(tool: CatalogTool, given: Arguments, call: Cancellable): Promise<Admitted> {
    const args = asSent(given)
    const subject = this.#permissions.subject(tool)
    let decision = this.#judge(subject, args)
    if (decision.verdict === 'deny') throw this.#deny(tool, args)
    const { flow: known, workflow } = this.#cell
    const flow = known?.ofCall(args)
    let sent = args
    let id: string | undefined
    while (decision.verdict === 'ask') {
      id = this.#tell(tool, args, decision, 'ask', id)
      const shown = frozenCopy({ ...subject, args, toolKey: this.#toolKey(tool, subject, decision) })
      try {
        await this.#approve({ tool, call: shown, decision }, call.signal)
      } catch (error) {
        this.#tell(tool, args, decision, 'deny', id)
        throw error
      }
      sent = shown.args
      // The client may have been shown more while the user thought about it.
      const now = this.#judge(subject, sent)
      if (now.verdict === 'deny') throw this.#deny(tool, args)
      if (now.verdict === 'allow' || this.#toolKey(tool, subject, now) === shown.toolKey) break
      decision = now
    }
    const counted = this.#state.count(decision.limits, this.#counts, this.#cell.session)
    const reached = counted instanceof Promise ? await counted : counted
    if (reached) {
      this.#tell(tool, args, reached, 'deny', id)
      throw deniedByLimit(subject, reached)
    }
    if (known && workflow) workflow.taken.push(...flowsOf({ ...subject, args: sent }, known))
    const allowed = { rule: decision.rule?.text, source: decision.rule?.origin.shown }
    if (id === undefined) return { args: sent, allowed: { decision: 'allow', ...allowed }, flow }
    return { args: sent, allowed: { decision: 'ask', ...allowed }, id, flow }
  }

  async admitAgain(tool: CatalogTool, { args, allowed, flow }: Admitted, call: Cancellable): Promise<Admitted> {
    this.refuseDenied(tool, args)
    const hasReadMore = this.#cell.flow?.seen.some((server) => flow?.seen.includes(server) !== true)
    return hasReadMore ? this.admit(tool, args, call) : { args, allowed, flow }
  }

  async foresee(calls: readonly SeenToolCall[], signal: AbortSignal): Promise<(BridgeError | undefined)[]> {
    const asked: SeenAsked[] = []
    const outcomes = calls.map(({ tool, args, isMade }, index) => {
      const subject = this.#permissions.subject(tool)
      const access = this.#policyNow.accessOf(subject)
      if (access === 'denied') return this.#deny(tool, args ?? {})
      if (args === undefined && access !== 'asks') return undefined
      const decision = this.#judge(subject, args ?? {})
      if (decision.verdict === 'deny') return this.#deny(tool, args ?? {})
      if (decision.verdict === 'ask' && isMade) {
        const call = frozenCopy({ ...subject, args: args ?? {}, toolKey: this.#toolKey(tool, subject, decision) })
        asked.push({ index, call, decision, isExact: args !== undefined, tool })
      }
      return undefined
    })
    if (asked.length === 0 || outcomes.some((outcome) => outcome !== undefined)) return outcomes
    const refusals = await this.#approveSeen(asked, signal)
    for (const [at, { index, tool, call, decision }] of asked.entries()) {
      outcomes[index] = refusals[at]
      if (refusals[at]) this.#tell(tool, call.args, decision, 'deny')
    }
    return outcomes
  }

  /** What a yes covers: a tool, with the flow that the question shows. */
  #toolKey(tool: CatalogTool, subject: Subject, { flow }: Decision): string {
    const key = [subject.definition, subject.server, subject.tool, tool.fingerprint]
    return [...key, ...(flow ? [flowKey(flow)] : [])].join('\n')
  }

  /** @param id of an event that reported this call before; the new decision replaces that one */
  #tell(
    tool: CatalogTool,
    args: Readonly<Arguments>,
    { rule }: Pick<Decision, 'rule'>,
    decision: 'ask' | 'deny',
    id = newId(),
  ): string {
    const { events, origin } = this.#cell
    if (!events.active) return id
    const kind = KINDS[tool.method ?? 'call_tool']
    const named = kind === 'prompt' ? args['name'] : kind === 'resource' ? args['uri'] : undefined
    events.emit({
      type: 'call.decided',
      id,
      ...ofCell(origin),
      kind,
      server: tool.server,
      name: typeof named === 'string' ? named : tool.name,
      decision,
      rule: rule?.text,
      source: rule?.origin.shown,
      flow: this.#cell.flow?.ofCall(args),
    })
    return id
  }

  /** Reports that the rules deny a call. @returns the error */
  #deny(tool: CatalogTool, args: Arguments): BridgeError {
    const subject = this.#permissions.subject(tool)
    const decision = this.#judge(subject, args)
    this.#tell(tool, args, decision, 'deny')
    const { tools = [] } = this.#permissions.options.catalog.of(tool.server)
    const allowed = tools.filter((one) => this.#permissions.accessOf(one, this.#policyNow) === 'allowed')
    const named = allowed.slice(0, MAX_NAMED).map(({ alias }) => alias)
    return deniedByRule(subject, decision, named, this.#cell.workflow)
  }

  #judge(subject: Subject, args: Arguments): Decision {
    const { flow, workflow } = this.#cell
    const { server, otherNames, tool, annotations, definition, isProjects, isChanged } = subject
    // Written out, because a spread takes as long as all else that is done for a call.
    const call = { server, otherNames, tool, annotations, definition, isProjects, isChanged, args, flow, workflow }
    return validate(this.#policyNow, call)
  }

  /** @throws BridgeError PERMISSION_DENIED without a yes of the user, CANCELLED when the call is cancelled meanwhile */
  async #approve(asked: Asked, signal: AbortSignal): Promise<void> {
    if (this.#isGranted(asked)) return
    if (this.#waiting.length >= MAX_WAITING)
      throw deniedByAnswer(asked, `more than ${MAX_WAITING} calls wait for an answer`, 'Make fewer calls at a time.')
    const refusal = await new Promise<BridgeError | undefined>((settle) => {
      const waiting = { ...asked, signal, settle }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', () => this.#settle([waiting], givenUp()), { once: true })
      if (!this.#isAsking) void this.#askAll()
    })
    // When an answer and a cancellation arrive together, the call is not made.
    if (signal.aborted) throw givenUp()
    if (refusal) throw refusal
  }

  /**
   * Asks one question for the calls seen in a cell before it runs, if at least one has all its arguments.
   * @returns the refusal of each call, if any
   */
  async #approveSeen(seen: readonly SeenAsked[], signal: AbortSignal): Promise<(BridgeError | undefined)[]> {
    const open = seen.filter((one) => !this.#isAllowedForLong(one))
    if (!open.some(({ isExact }) => isExact)) return seen.map(() => undefined)
    const { text, shownCount } = callsText(open, 'cell')
    const asked = open.slice(0, shownCount)
    const answer = await this.#ask(text, asked, signal)
    if (typeof answer === 'string' && answer.startsWith('yes')) {
      for (const one of asked) await this.#grant(answer, one, one.isExact)
      return seen.map(() => undefined)
    }
    if (answer === 'stop') this.#stop()
    return seen.map((one) => (open.includes(one) ? this.#refusalOf(one, answer) : undefined))
  }

  /** Asks one question at a time until no call waits. */
  async #askAll(): Promise<void> {
    this.#isAsking = true
    try {
      for (let seen = 0, round = 0; seen < this.#waiting.length && round < MAX_GATHERINGS; round += 1) {
        seen = this.#waiting.length
        await sleep(GATHER_MS)
      }
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        if (this.#isGranted(next)) this.#settle([next], undefined)
        else await this.#askFor(next)
      }
    } finally {
      this.#isAsking = false
    }
  }

  async #askFor(first: Waiting): Promise<void> {
    const alike = this.#waiting.filter(({ call }) => shapeKey(call) === shapeKey(first.call))
    const { text, shownCount } = callsText(alike, 'calls')
    const group = alike.slice(0, shownCount)
    const all = new AbortController()
    const onAbort = (): void => {
      if (group.every(({ signal }) => signal.aborted)) all.abort()
    }
    for (const { signal } of group) signal.addEventListener('abort', onAbort, { once: true })
    onAbort()
    try {
      const answer = await this.#ask(text, group, all.signal)
      const yes = typeof answer === 'string' && answer.startsWith('yes')
      if (yes && answer !== 'yes') await this.#grant(answer, first, true)
      this.#settle(group, yes ? undefined : this.#refusalOf(first, answer))
      if (answer === 'stop') this.#stop()
    } catch (error) {
      this.#settle(group, BridgeError.isInstance(error) ? error : deniedByAnswer(first, 'the question failed', ''))
    } finally {
      for (const { signal } of group) signal.removeEventListener('abort', onAbort)
    }
  }

  /** @param isExact whether the arguments are complete */
  async #grant(answer: Answer, { call, tool, decision }: Asked, isExact: boolean): Promise<void> {
    if (answer === 'yes' && isExact) this.#grants.once(call)
    if (answer === 'yes-cell' && isExact) this.#grants.shape(call)
    if (answer === 'yes-session' || answer === 'yes-always') this.#state.of(this.#cell.session).tools.add(call.toolKey)
    // Rules apply to all users, so with several users the answer counts for this session only.
    if (answer !== 'yes-always' || this.#cell.origin.user !== undefined) return
    await this.#keepAnswer(() => this.#permissions.allowAlways(tool, decision.flow), 'it counts for this session')
  }

  #isAllowedForLong({ call, decision }: Asked): boolean {
    // Both names are compared: of server a__b with tool c and server a with tool b__c, only one was allowed.
    const isAllowed = this.#cell.allowed?.some(({ server, tool }) => server === call.server && tool === call.tool)
    // The user who allowed the tool has not seen this flow.
    if (isAllowed === true && call.isChanged !== true && !decision.flow) return true
    return this.#state.of(this.#cell.session).tools.has(call.toolKey)
  }

  #isGranted(asked: Asked): boolean {
    const { call, decision } = asked
    // The user may trust by now the text because of which it asked.
    const isTrusted = (): boolean => decision.by === 'flow' && this.#judge(call, call.args).verdict === 'allow'
    return this.#isAllowedForLong(asked) || isTrusted() || this.#grants.take(call)
  }

  /** An answer that trusts a server's text is a yes, and is kept here. */
  async #ask(text: string, group: readonly Asked[], signal: AbortSignal): Promise<Answer | NoAnswer> {
    const offer = this.#trustOffered(group)
    const answer = await askUser(offer ? `${text}\n${trustText(offer.server)}` : text, group, {
      permissions: this.#permissions,
      cell: this.#cell,
      signal,
      trusts: offer?.server,
    })
    if (answer !== 'yes-trust') return answer
    if (offer) await this.#keepAnswer(() => this.#permissions.trustAlways(offer), 'it counts once')
    return offer ? 'yes' : 'no'
  }

  /**
   * The server whose text an answer can trust: the only one that the model has read, and the only reason of the
   * question. Where that text also says where something goes, no answer for good is offered at this very moment. With
   * several users, only whoever runs the bridge trusts a server.
   */
  #trustOffered(group: readonly Asked[]): TrustedText | undefined {
    if (this.#cell.origin.user !== undefined) return undefined
    if (group.some(({ decision: { by, flow } }) => by !== 'flow' || !flow || flow.from.length > 0)) return undefined
    const [server, ...others] = new Set(group.flatMap(({ decision: { flow } }) => flow?.seen ?? []))
    return server === undefined || others.length > 0 ? undefined : this.#permissions.trustOf(server)
  }

  async #keepAnswer(keep: () => Promise<void>, otherwise: string): Promise<void> {
    try {
      await keep()
    } catch (error) {
      const what = `The user's answer could not be saved: ${otherwise} only`
      this.#cell.origin.log.warning(what, { error })
      this.#cell.notes?.add(`${what}. Tell the user: ${visibleInline(messageOf(error))}`)
    }
  }

  /** The refusals reach the code before the interrupt, which would leave open whether the calls were made. */
  #stop(): void {
    this.#isStopped = true
    for (const waiting of this.#waiting.slice()) this.#settle([waiting], this.#refusalOf(waiting, 'stop'))
    setImmediate(() => this.#cell.stop())
  }

  #settle(group: readonly Waiting[], refusal: BridgeError | undefined): void {
    for (const waiting of group) {
      const at = this.#waiting.indexOf(waiting)
      if (at === -1) continue
      this.#waiting.splice(at, 1)
      waiting.settle(refusal)
    }
  }

  #refusalOf(asked: Asked, answer: Answer | NoAnswer): BridgeError {
    if (typeof answer !== 'string') return deniedByAnswer(asked, answer.why, answer.hint)
    if (answer === 'stop') return deniedByAnswer(asked, 'the user said no, and stopped the code', STOPPED)
    return deniedByAnswer(asked, 'the user said no', 'Do not try it in another way: ask what they want instead.')
  }
}

const STOPPED = 'Do not run it again: ask what they want instead.'

function givenUp(): BridgeError {
  return new BridgeError('CANCELLED', 'The call was given up while the user was asked about it')
}
