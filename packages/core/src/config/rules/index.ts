// What packages use of config/rules.
export { type DeclaredFlow, flowKeyOf, flowLines, flowsOf, type WatchedFlows } from './declared-flows.ts'
export { conditionFor, flowKey, flowText } from './flow.ts'
export type { FlowFacts, FlowPreset, FlowReason, ValueOrigin } from './flow.ts'
export { soundsReadOnly } from './hints.ts'
export type { TrustedText } from './permissions-schema.ts'
export { asSent, frozenCopy, Policy, validate } from './policy.ts'
export type { Call, Decision, Standing, Subject } from './policy.ts'
export { type Limits, type Rule, ruleName, ruleReason } from './rule.ts'
