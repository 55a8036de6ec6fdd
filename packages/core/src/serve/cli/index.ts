// What packages use of cli.
export type { Command } from './command.ts'
export type { Finding } from './package.ts'
export { serveConnection } from './serve/serve-connection.ts'
