// Bundles src/ with what it imports into dist/. One folder of a few files loads in half the time of two hundred modules, which is
// what a client waits for when it starts us, and whoever installs the package gets Pyodide and nothing else beside it.
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildPage } from './build-page.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = path.join(root, 'dist')
/** Not bundled: src/text/common-tokens.json is a selection of its data. */
const TOKENS_FROM = 'node_modules/gpt-tokenizer/package.json'
/** Runs JavaScript cells in the embedded sandbox. Used as it is. */
const QUICKJS_WASM = 'node_modules/quickjs-wasi/quickjs.wasm'

rmSync(dist, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/cli.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Not the identifiers: names of classes and functions show in error messages and logs.
  minifyWhitespace: true,
  minifySyntax: true,
  // Escapes would make it larger, and slower to load.
  charset: 'utf8',
  // What a library prints, such as the words of an authorization server, would stand beside our log, unredacted.
  drop: ['console'],
  external: ['pyodide'],
  // Its CommonJS form looks for its own files at run time, which a bundle does not have.
  alias: {
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
    '@modelcontextprotocol/server/_shims': './src/server/sdk-parts.ts',
  },
  // The package sixel makes this variable without declaring it, which a module may not.
  define: { UPNG: 'globalThis.UPNG' },
  // Bundled CommonJS modules ask for Node's own modules with require().
  banner: {
    js: "import { createRequire as $createRequire } from 'node:module'\nconst require = $createRequire(import.meta.url)",
  },
  metafile: true,
  legalComments: 'none',
  logLevel: 'warning',
})
chmodSync(path.join(dist, 'cli.js'), 0o755)
const pageInputs = await buildPage(root)
const languageInputs = await buildLanguages()
writeFileSync(
  path.join(dist, 'THIRD-PARTY-LICENSES.txt'),
  licences([...Object.keys(metafile.inputs), ...pageInputs, ...languageInputs, TOKENS_FROM]),
)

/** What runs cells of other languages, in the sandbox. */
async function buildLanguages() {
  const shared = {
    absWorkingDir: root,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    minify: true,
    keepNames: true,
    charset: 'utf8',
    metafile: true,
    legalComments: 'none',
    logLevel: 'warning',
  }
  const source = 'src/languages/javascript'
  const outdir = 'dist/languages/javascript'
  const node = await build({
    ...shared,
    entryPoints: [`${source}/runner.ts`, `${source}/types.ts`],
    outdir,
    platform: 'node',
    target: 'node20.12',
  })
  const embedded = await build({
    ...shared,
    entryPoints: { quickjs: `${source}/embedded/runner.ts` },
    outdir,
    platform: 'neutral',
    target: 'es2023',
    mainFields: ['module', 'main'],
    alias: { 'node:util': `./${source}/embedded/inspect.ts` },
  })
  copyFileSync(path.join(root, QUICKJS_WASM), path.join(root, outdir, 'quickjs.wasm'))
  return [...Object.keys(node.metafile.inputs), ...Object.keys(embedded.metafile.inputs), QUICKJS_WASM]
}

/** The licence of every package that was bundled, as each asks for. */
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
