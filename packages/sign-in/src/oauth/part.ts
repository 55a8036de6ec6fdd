// What the core uses of OAuth.
export { createClientCredentialsAuth } from './client-credentials.ts'
export { login } from './login.ts'
export { revokeGrant } from './revoke.ts'
export { createStoredAuth } from './stored-auth.ts'
