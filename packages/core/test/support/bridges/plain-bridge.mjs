// The bridge that most tests start on Linux: the built one, bundled so that one process can play many of it
// (bridge-host/), and, where this machine has a Python, with a kernel in that Python in the place of the embedded
// sandbox. A start of it takes a seventh of the processor time, and a test that is about neither Python in WebAssembly
// nor isolation sees no difference. One that is sets MCP_BRIDGE_RUNTIME.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle, bundleBridge } from '../../../../../scripts/build/bundle-bridge.mjs'
import { replaceFolder } from '../../../../../scripts/build/replace-folder.mjs'
import { BUILT_CLI, HOSTED, PLAIN_CLI } from './bridge-process.ts'
import { pythonProgram, whyNoPython } from '../sandboxes/plain-kernel.ts'

const PROVIDER = /[\\/]src[\\/]isolation[\\/]pyodide[\\/]provider\.ts$/
const PLAIN_PROVIDER = fileURLToPath(new URL('../sandboxes/plain-provider.ts', import.meta.url))
const COMMAND = path.join(import.meta.dirname, 'bridge-host/command.ts')
const HOST_PARTS = readdirSync(path.join(import.meta.dirname, 'bridge-host')).map((name) => `bridge-host/${name}`)
const PARTS = ['../sandboxes/plain-provider.ts', '../sandboxes/plain-kernel.ts', 'plain-bridge.mjs', ...HOST_PARTS].map(
  (name) => path.join(import.meta.dirname, name),
)
/** What knows no process and keeps nothing of one. It takes longer to run than all else. */
const LIBRARY =
  /[\\/](node_modules|src[\\/]util[\\/]tokens|src[\\/]serve[\\/]mcp[\\/]sdk-parts\.ts|exact-numbers\.ts)([\\/]|$)/
/** It gives a method to all numbers, and they have one for all processes. */
const OF_ALL_NUMBERS = { name: 'exact-numbers', test: /exact-numbers\.ts$/ }
const HOUR_MS = 3_600_000

/** Runs before all tests, which take it from then on. */
export default async function usePlainBridge() {
  // Tests of single files may run without a build.
  if (process.platform !== 'linux' || !existsSync(BUILT_CLI)) return
  if (process.env['SANDBRIDGE_TEST_CELLS'] !== 'embedded' && whyNoPython() === undefined)
    process.env['SANDBRIDGE_TEST_PLAIN'] = pythonProgram()
  process.env['SANDBRIDGE_TEST_BRIDGES'] ??= HOSTED
  const built = existsSync(PLAIN_CLI) ? statSync(PLAIN_CLI).mtimeMs : 0
  // It names all other files, with their hashes.
  const program = path.join(path.dirname(BUILT_CLI), 'main.js')
  if ([program, ...PARTS].some((file) => statSync(file).mtimeMs > built)) await build()
}

async function build() {
  const folder = path.dirname(PLAIN_CLI)
  mkdirSync(path.dirname(folder), { recursive: true })
  const unfinished = mkdtempSync(`${folder}-`)
  await bundleBridge(unfinished, [
    {
      name: 'plain-provider',
      buildStart() {
        this.emitFile({ type: 'chunk', id: COMMAND, fileName: 'command.js' })
      },
      // What both entries use stands in neither: whoever loads main.js runs its command.
      outputOptions: (options) => ({ ...options, codeSplitting: { groups: [OF_ALL_NUMBERS] } }),
      async resolveId(specifier, importer) {
        if (importer === undefined || importer === PLAIN_PROVIDER) return undefined
        const resolved = await this.resolve(specifier, importer, { skipSelf: true })
        return resolved && PROVIDER.test(resolved.id) ? PLAIN_PROVIDER : undefined
      },
      generateBundle(_, files) {
        const isLibrary = (file) => file.type === 'chunk' && file.moduleIds.every((id) => LIBRARY.test(id))
        const names = Object.values(files).flatMap((file) => (isLibrary(file) ? file.fileName : []))
        this.emitFile({ type: 'asset', fileName: 'libraries.json', source: JSON.stringify(names) })
      },
    },
  ])
  await bundle({
    input: { host: 'packages/core/test/support/bridges/bridge-host/host.ts' },
    platform: 'node',
    output: { dir: unfinished },
  })
  replaceFolder(unfinished, folder, { last: 'cli.js', keepMs: HOUR_MS })
  utimesSync(PLAIN_CLI, new Date(), new Date())
}
