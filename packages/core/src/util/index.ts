// What packages use of util.
export { installation, ownScript } from './installation.ts'
export { createLog, type Log, SILENT } from './log.ts'
export { orUndefined } from './or-undefined.ts'
export { KERNEL_FOLDER, PACKAGE_ROOT, CLIENT_INFO, VERSION } from './package-root.ts'
export { Part } from './part.ts'
export { estimateTokens } from './tokens/estimate-tokens.ts'
