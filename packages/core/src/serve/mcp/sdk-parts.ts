// What the build gives the SDK's server instead of the SDK's default for Node, Ajv, which is a quarter of the code that
// a client waits for and is evaluated at every start. This validator from the same SDK is a fifth of its size. It
// checks the forms that people fill in.
export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker'
export { default as process } from 'node:process'
