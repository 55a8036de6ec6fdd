// Finds the published clients where they are installed. The tests of this folder run them with the built bridge; agents
// have a stub in place of their model. First `npm ci --prefix test/clients --ignore-scripts`, then
// `npx vitest run test/clients`. Codex and Copilot are large: `npm install --prefix test/clients/by-hand
// --ignore-scripts`. mcporter runs on Node 24 from test/conformance. Claude Code needs an account: no test runs it.
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'vitest'

const INSTALL = 'npm ci --prefix test/clients --ignore-scripts'

/** The path of a file of an installed package. If it is missing, skips the test and says how to install it. */
export function installed(file: string, context: TestContext, folder = ''): string {
  const found = path.join(import.meta.dirname, folder, 'node_modules', file)
  if (!existsSync(found)) {
    const how = folder ? `npm install --prefix test/clients/${folder} --ignore-scripts` : INSTALL
    context.skip(`not installed: ${how}`)
  }
  return found
}
