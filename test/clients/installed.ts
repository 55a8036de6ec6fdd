// Finds the published clients where they are installed.
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
