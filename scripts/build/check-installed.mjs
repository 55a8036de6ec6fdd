// Runs before a build. Without the dependencies, Node would only say that it cannot find a module. A package of this
// repository that came after the last `npm ci` is linked as npm does it.
import { existsSync, readdirSync, symlinkSync } from 'node:fs'

if (!existsSync(new URL('../../node_modules/rolldown', import.meta.url))) {
  // With NODE_ENV=production, npm leaves out what a build needs.
  process.stderr.write('The dependencies of the build are not installed. Run `npm ci --include=dev` first.\n')
  process.exitCode = 1
} else {
  for (const name of readdirSync(new URL('../../packages/', import.meta.url))) {
    const link = new URL(`../../node_modules/@sandbridge/${name}`, import.meta.url)
    if (!existsSync(link)) symlinkSync(`../../packages/${name}`, link, 'junction')
  }
}
