// What the build gives the SDK's server in place of the SDK's own choice for Node, which is Ajv: a quarter of the code that a client
// waits for, and evaluated at every start. This validator of the same SDK is a fifth of its size. It checks the forms that people fill in.
export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker'
export { default as process } from 'node:process'
