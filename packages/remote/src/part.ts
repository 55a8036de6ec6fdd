// What the core uses of remote servers.
export { dialRemote } from './dial-remote.ts'
export { helperAuth, withHelpersHeaders } from './headers-helper.ts'
