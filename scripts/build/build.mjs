// Bundles src/ and its imports into dist/. A few files load in half the time of two hundred modules, and a client waits
// for that at start. The installed package depends only on Pyodide.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { bundle, bundleBridge, root } from './bundle-bridge.mjs'
import { replaceFolder } from './replace-folder.mjs'

mkdirSync(path.join(root, '.cache'), { recursive: true })
/** Becomes dist/ when it is finished: tests and bridges may be running from the one before. */
const dist = mkdtempSync(path.join(root, '.cache/dist-'))
const HOUR_MS = 3_600_000
/** Not bundled: packages/core/src/util/tokens/common-tokens.json is a selection of its data. */
const TOKENS_FROM = 'node_modules/gpt-tokenizer/package.json'
/** Runs JavaScript cells in the embedded sandbox. Copied unchanged. */
const QUICKJS_WASM = 'node_modules/quickjs-wasi/quickjs.wasm'

const bridgeInputs = await bundleBridge(dist)
chmodSync(path.join(dist, 'cli.js'), 0o755)
// The build of a core without the page has none.
const pageInputs = existsSync(path.join(root, 'packages/page'))
  ? await (await import('../../packages/page/build-page.mjs')).buildPage(root, path.join(dist, 'web'))
  : []
const languageInputs = await buildLanguages()
writeFileSync(
  path.join(dist, 'THIRD-PARTY-LICENSES.txt'),
  licences([...bridgeInputs, ...pageInputs, ...languageInputs, TOKENS_FROM]),
)
// A package gets the files of this build alone.
const keepMs = process.argv.includes('--clean') ? 0 : HOUR_MS
replaceFolder(dist, path.join(root, 'dist'), { last: 'cli.js', keepMs })

/** Builds the programs that run cells of other languages in the sandbox. The build of a core without them has none. */
async function buildLanguages() {
  const source = 'packages/javascript/src/javascript'
  if (!existsSync(path.join(root, source))) return []
  const output = {
    dir: path.join(dist, 'languages/javascript'),
    entryFileNames: '[name].cjs',
    codeSplitting: false,
    minify: true,
    keepNames: true,
  }
  const node = { platform: 'node', transform: { target: 'node20.12' }, output }
  const inputs = [
    await bundle({ ...node, input: { runner: `${source}/runner.ts` } }),
    await bundle({ ...node, input: { types: `${source}/types.ts` } }),
    await bundle({
      input: { quickjs: `${source}/embedded/runner.ts` },
      platform: 'neutral',
      // Nothing is there but what is in the bundle: without a word, its JavaScript would not start.
      onLog(_level, { code, message }) {
        if (code === 'UNRESOLVED_IMPORT') throw new Error(message)
      },
      resolve: {
        mainFields: ['module', 'main'],
        alias: { 'node:util': path.join(root, `${source}/embedded/inspect.ts`) },
      },
      transform: { target: 'es2023' },
      output,
    }),
  ]
  copyFileSync(path.join(root, QUICKJS_WASM), path.join(output.dir, 'quickjs.wasm'))
  return [...inputs.flat(), QUICKJS_WASM]
}

/** The licences of all bundled packages, as each requires. */
function licences(inputs) {
  const packages = new Set(inputs.flatMap((file) => file.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []))
  const texts = [...packages]
    .toSorted((a, b) => a.localeCompare(b))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'))
      const file = readdirSync(path.join(root, folder)).find((entry) => /^(licen[sc]e|copying)/i.test(entry))
      const text =
        file && existsSync(path.join(root, folder, file))
          ? readFileSync(path.join(root, folder, file), 'utf8').trim()
          : ''
      return `${name} ${version} (${license})\n\n${text}\n`
    })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}
