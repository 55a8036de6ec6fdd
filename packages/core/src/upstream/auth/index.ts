// What packages use of upstream/auth.
export { describeSignIn, signInState, type SignInState } from './describe-sign-in.ts'
export { type Grant, grantOf, latestGrant, type ServerGrants, type SignInEntry } from './grants.ts'
export { SIGN_IN_MS } from './sign-in-limit.ts'
export { SignInRequired } from './sign-in-required.ts'
export { mayLogIn, type OwnCredentials } from './sign-ins.ts'
export type { KeptSignIn } from './token-store.ts'
