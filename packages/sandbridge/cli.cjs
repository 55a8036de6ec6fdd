#!/usr/bin/env node
// The command, which is not built: npm packs a checkout that has not been built, too, where it runs no scripts.
const { existsSync } = require('fs')
const program = `${__dirname}/../../dist/cli.js`

if (existsSync(program)) require(program)
else {
  if (process.argv.includes('--version')) process.stdout.write(`${require('../../package.json').version}\n`)
  process.stderr.write(
    'sandbridge: this package has no program: it was made of a checkout that had not been built. ' +
      'Run `npm run build && npm pack` in the checkout, and install what that makes.\n',
  )
  process.exitCode = 1
}
