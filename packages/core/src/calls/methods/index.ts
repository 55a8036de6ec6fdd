// What packages use of calls/methods.
export { fromBase64 } from './artifact-methods.ts'
export { lazyMethods } from './method.ts'
export { type CallContext, method, tellingMethod } from './method.ts'
export { listedPrompts, listedResources } from './resource-methods.ts'
export { opens, shown } from './saved-tool-methods.ts'
