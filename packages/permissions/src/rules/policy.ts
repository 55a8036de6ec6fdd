// Judges a call by the rules: allow, ask or deny. limits.ts counts calls; ask-user.ts asks the user. Pure.
import { believedHints, plainName } from '@sandbridge/core/config/rules'
import type {
  Call,
  Decision,
  FlowFacts,
  FlowPreset,
  FlowReason,
  Hints,
  KnownServer,
  Policy,
  Preset,
  Rule,
  ToolAccess,
  Subject,
  Target,
  ToolRules,
  UnmatchedRule,
  Verdict,
} from '@sandbridge/core/config/rules'
import { exactJson, parseExact } from '@sandbridge/core/util/json'
import { undeclared } from './declared-flows.ts'
import { flowReason } from './flow.ts'
import { unmatchedRules } from './unmatched-rules.ts'

/** With what they were found for. */
interface FoundRules extends ToolRules, Pick<Subject, 'otherNames' | 'annotations' | 'definition' | 'isProjects'> {}

/** Number of tools whose rules are cached; the cache is cleared when it is full. */
const MAX_TOOLS = 20_000
const NO_LIMITS: readonly Rule[] = []

export class RulePolicy implements Policy {
  readonly rules: readonly Rule[]
  readonly preset: Preset
  readonly flow: FlowPreset
  readonly followsFlow: boolean
  readonly #byServer = new Map<string, Rule[]>()
  readonly #forAll: Rule[] = []
  /** By server and tool. */
  readonly #found = new Map<string, Map<string, FoundRules>>()
  #foundCount = 0

  constructor(rules: readonly Rule[], preset: Preset, flow: FlowPreset = 'off') {
    // A project's rules cannot allow anything.
    this.rules = rules.filter(({ verdict, origin }) => verdict !== 'allow' || origin.scope === 'user')
    this.preset = preset
    this.flow = flow
    this.followsFlow = flow !== 'off' || this.rules.some(({ condition }) => condition?.usesFlow === true)
    for (const rule of this.rules) {
      const { indexedServers } = rule.limited ?? rule.target
      // An answer follows its server's definition.
      if (indexedServers === undefined || rule.insteadOfAsking) this.#forAll.push(rule)
      for (const server of indexedServers ?? [])
        this.#byServer.set(server, [...(this.#byServer.get(server) ?? []), rule])
    }
  }

  /** Cached. */
  rulesFor(subject: Subject): FoundRules {
    const { server, otherNames, tool, annotations, definition, isProjects } = subject
    const known = this.#found.get(server)?.get(tool)
    const isSame = known?.annotations === annotations && known?.definition === definition
    if (known && isSame && known.isProjects === isProjects && known.otherNames === otherNames) return known
    if (this.#foundCount >= MAX_TOOLS) {
      this.#found.clear()
      this.#foundCount = 0
    }
    const found = this.#find(subject)
    this.#found.set(server, (this.#found.get(server) ?? new Map<string, FoundRules>()).set(tool, found))
    this.#foundCount += 1
    return found
  }

  #find(subject: Subject): FoundRules {
    const { server, otherNames, tool, annotations, definition, isProjects } = subject
    const hints = believedHints(tool, annotations, !isProjects)
    const names = [server, ...(otherNames ?? [])]
    const indexed = [...new Set(names.map(plainName))].flatMap((name) => this.#byServer.get(name) ?? [])
    const about = [...new Set([...indexed, ...this.#forAll])].filter(
      (rule) =>
        (rule.origin.server === undefined || rule.origin.server === server) &&
        (rule.definition === undefined || rule.definition === definition) &&
        Object.entries(rule.annotations).every(([hint, value]) => hints[hint as keyof Hints] === value),
    )
    const restricts = (target: Target): boolean => names.some((name) => target.matches(name, tool))
    const fitting = about.filter(({ verdict, target, definition: ofAnswer, insteadOfAsking }) => {
      if (verdict !== 'allow') return restricts(target)
      // An answer is for what the user saw, whatever it is called now.
      if (insteadOfAsking && ofAnswer !== undefined && !isProjects)
        return target.matches(target.readings[0]!.server, tool)
      // What the user allowed for their own server does not apply to a project's server of the same name.
      return (!isProjects || ofAnswer !== undefined) && target.matches(server, tool)
    })
    const of = (verdict: Verdict): Rule[] => fitting.filter((rule) => rule.verdict === verdict)
    const isAnswer = (rule: Rule): boolean => rule.insteadOfAsking
    return {
      otherNames,
      annotations,
      definition,
      isProjects,
      hints,
      byVerdict: { deny: of('deny'), ask: of('ask'), allow: of('allow').filter((rule) => !isAnswer(rule)) },
      answered: of('allow').filter(isAnswer),
      limiting: about.filter(({ limited }) => limited && restricts(limited)),
    }
  }

  get judgesFlow(): boolean {
    return this.flow === 'ask' || this.flow === 'deny'
  }

  isDenied(subject: Subject): boolean {
    const { byVerdict, hints } = this.rulesFor(subject)
    return byVerdict.deny.some(isCertain) || (this.preset === 'readonly' && !hints.readOnlyHint)
  }

  accessOf(subject: Subject): ToolAccess {
    if (this.isDenied(subject)) return 'denied'
    const { byVerdict, answered, hints } = this.rulesFor(subject)
    const all = [...byVerdict.deny, ...byVerdict.ask, ...byVerdict.allow, ...answered]
    const decision = validate(this, { ...subject, args: {} })
    const isOpen = all.some(({ condition }) => condition !== undefined) || (this.judgesFlow && !hints.readOnlyHint)
    // Denied without arguments is one that a condition, which cannot be judged yet, may deny.
    if (isOpen && (decision.verdict === 'deny' || !byVerdict.ask.some(isCertain))) return 'depends'
    return decision.verdict === 'ask' ? 'asks' : 'allowed'
  }

  unmatched(servers: readonly KnownServer[]): UnmatchedRule[] {
    return unmatchedRules(this.rules, servers)
  }
}

function isCertain({ condition }: Rule): boolean {
  return condition === undefined
}

/** Decides a call. A condition that cannot be evaluated is true where a rule denies or asks, false where it allows. */
export function validate(policy: Policy, call: Call): Decision {
  const { byVerdict, answered, limiting, hints } = policy.rulesFor(call)
  const { server, tool, args, flow } = call
  const facts = { server, tool, args, annotations: hints, flow }
  const strict = ({ condition }: Rule): boolean =>
    condition === undefined ||
    condition.holds(facts) !== false ||
    (call.otherNames ?? []).some((name) => condition.holds({ ...facts, server: name }) !== false)
  const lax = ({ condition }: Rule): boolean => condition === undefined || condition.holds(facts) === true

  const denied = byVerdict.deny.find(strict)
  if (denied) return { verdict: 'deny', rule: denied, by: 'rule', limits: NO_LIMITS }
  if (policy.preset === 'readonly' && !hints.readOnlyHint) return { verdict: 'deny', by: 'preset', limits: NO_LIMITS }

  const limits = limiting.filter(strict)
  const decided = (verdict: Verdict, by: Decision['by'], rule?: Rule): Decision => {
    const decision: Decision = { verdict, by, rule, limits: limits.length === 0 ? NO_LIMITS : limits }
    const declared = call.workflow?.declared
    const judge = (known: FlowFacts): FlowReason | undefined =>
      declared ? undeclared(call, known, declared) : flowReason(call, hints.readOnlyHint, known)
    const risk = flow && policy.judgesFlow ? judge(flow) : undefined
    // Only a rule about flows allows a risky one.
    if (!risk || [...answered, ...byVerdict.allow].some((one) => one.condition?.usesFlow && lax(one))) return decision
    if (declared) return { verdict: 'deny', by: 'workflow', flow: risk, limits: NO_LIMITS }
    if (policy.flow === 'deny') return { verdict: 'deny', by: 'flow', flow: risk, limits: NO_LIMITS }
    return { ...decision, verdict: 'ask', flow: risk, ...(verdict === 'allow' && { by: 'flow' }) }
  }
  // The user's answer was for the tool before it changed.
  const isChanged = call.isChanged === true && policy.preset !== 'open'
  const answer = isChanged ? undefined : answered.find(lax)
  if (answer) return decided('allow', 'rule', answer)
  const asking = byVerdict.ask.find(strict)
  if (asking) return decided('ask', 'rule', asking)
  if (isChanged) return decided('ask', 'change')
  const allowing = byVerdict.allow.find(lax)
  if (allowing) return decided('allow', 'rule', allowing)
  return decided(policy.preset === 'careful' && !hints.readOnlyHint ? 'ask' : 'allow', 'preset')
}

/** Returns the arguments as the server parses them. JSON has, for example, no missing items. */
export function asSent<T>(args: T): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return parseExact(exactJson(args)) as T
}

/** A copy of the call with frozen arguments: the call that was judged and shown is the one that is sent. */
export function frozenCopy<T extends Call>(call: T): T {
  return Object.freeze({ ...call, args: frozen(asSent(call.args)) })
}

function frozen<T>(root: T): T {
  const pending: unknown[] = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) continue
    Object.freeze(value)
    pending.push(...Object.values(value))
  }
  return root
}
