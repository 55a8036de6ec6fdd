// Runs before a build. Without the dependencies, Node would only say that it cannot find a module.
import { existsSync } from 'node:fs'

if (!existsSync(new URL('../node_modules/rolldown', import.meta.url))) {
  process.stderr.write('The dependencies are not installed. Run `npm ci` first.\n')
  process.exitCode = 1
}
