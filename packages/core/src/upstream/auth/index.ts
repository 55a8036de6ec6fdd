// What packages use of upstream/auth.
export { mayLogIn, type OwnCredentials, ownCredentials, SIGN_IN_MS } from './own-credentials.ts'
export { type Grant, type KeptSignIn, latestGrant, type ServerGrants, signInVault } from './sign-in-store.ts'
export type { SignInEntry, TokenStore, Vault } from './sign-in-store.ts'
