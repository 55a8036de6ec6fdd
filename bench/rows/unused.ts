// Rows of packages that a bridge does not use: how many of a package's own files it has loaded after a list of tools
// and a cell. Node's coverage names the files, of a bridge that runs from the sources.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { closeTestBridge, openTestBridge, ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { atMost, type BenchRow, reported } from '../row.ts'

/** package.ts, its settings and one more. An offer to clients is made at once, and what makes it is loaded, too. */
const MOST = { files: 3, withOffer: 6 }
/** No bridge does without these. */
const ALWAYS = /\*\*On:\*\* (?:always|by default)/
const PACKAGES = path.join(ROOT, 'packages')

export default async function unusedRows(): Promise<BenchRow[]> {
  const loaded = await loadedFiles()
  const names = readdirSync(PACKAGES).filter((name) => name !== 'core' && name !== 'sandbridge')
  return names.map((name) => {
    const own = loaded.filter((file) => file.startsWith(path.join(PACKAGES, name, 'src', path.sep)))
    const bytes = own.reduce((sum, file) => sum + statSync(file).size, 0)
    const row = `files of ${name} that are loaded`
    const isOffer = own.some((file) => file.endsWith('package.ts') && /^ +offer:/m.test(readFileSync(file, 'utf8')))
    const counted = ALWAYS.test(readFileSync(path.join(PACKAGES, name, 'README.md'), 'utf8'))
      ? reported(row, String(own.length))
      : atMost(row, own.length, isOffer ? MOST.withOffer : MOST.files, String)
    return { ...counted, value: `${counted.value} (${(bytes / 1024).toFixed(1)} KiB)` }
  })
}

async function loadedFiles(): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-unused-'))
  try {
    const bridge = await openTestBridge({
      command: { node: process.execPath, cli: path.join(PACKAGES, 'sandbridge/src/cli.ts') },
      env: { NODE_OPTIONS: `--import=${import.meta.resolve('tsx')}`, NODE_V8_COVERAGE: folder },
    })
    await bridge.client.listTools()
    const said = await bridge.run('6 * 7')
    await closeTestBridge(bridge)
    const urls = readdirSync(folder).flatMap((name) => {
      const { result } = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as { result: { url: string }[] }
      return result.map(({ url }) => url).filter((url) => url.startsWith('file:'))
    })
    const files = [...new Set(urls.map((url) => fileURLToPath(url)))]
    // Control: else each package would seem to cost nothing.
    if (said !== '42' || !files.includes(path.join(PACKAGES, 'sandbridge/src/packages.ts')))
      throw new Error(`the bridge did not run from its sources: ${said}`)
    return files
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
