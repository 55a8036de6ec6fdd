// What packages use of config/rules.
export { type DeclaredFlow, flowKeyOf, flowLines, flowsOf, type WatchedFlows } from './declared-flows.ts'
export type { FlowPreset, ValueOrigin } from './flow.ts'
export { soundsReadOnly } from './hints.ts'
export { type Decision, type Standing, validate } from './policy.ts'
export { ruleName } from './rule.ts'
