// What the core uses of OAuth.
export { createClientCredentialsAuth } from '../tokens/client-credentials.ts'
export { login } from '../sign-in/login.ts'
export { revokeGrant } from '../tokens/revoke.ts'
export { createStoredAuth } from '../tokens/stored-auth.ts'
