// What the core uses of OAuth.
export { createClientCredentialsAuth } from './client-credentials.ts'
export { login } from './login.ts'
export { createStoredAuth } from './stored-auth.ts'
