// Runs before a build. Without the dependencies, Node would only say that it cannot find a module.
import { existsSync } from 'node:fs'

if (!existsSync(new URL('../../node_modules/rolldown', import.meta.url))) {
  // With NODE_ENV=production, npm leaves out what a build needs.
  process.stderr.write('The dependencies of the build are not installed. Run `npm ci --include=dev` first.\n')
  process.exitCode = 1
}
