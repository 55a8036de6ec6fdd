// npm as a command that starts without a shell: on Windows, `npm` is a script of one.
import path from 'node:path'

/** The program and its first arguments. */
export const NPM: [string, ...string[]] =
  process.platform === 'win32'
    ? [process.execPath, path.join(path.dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js')]
    : ['npm']
