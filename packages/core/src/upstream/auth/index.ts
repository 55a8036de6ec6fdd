// What packages use of upstream/auth.
export { type Grant, grantOf, latestGrant, type ServerGrants, type SignInEntry } from './grants.ts'
export { mayLogIn, type OwnCredentials, ownCredentials, SIGN_IN_MS } from './own-credentials.ts'
export type { KeptSignIn, TokenStore } from './token-store.ts'
