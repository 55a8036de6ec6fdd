// What the core uses of the store of sign-ins.
export { createTokenStore } from './token-store.ts'
export { openVault } from './vault.ts'
