// What packages use of calls/methods.
export { lazyMethods } from './method.ts'
export { type CallContext, type CellApps, method, tellingMethod } from './method.ts'
export { listedPrompts, listedResources } from './resource-methods.ts'
