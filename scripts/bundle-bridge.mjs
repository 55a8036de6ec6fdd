// Bundles the bridge. It is CommonJS, because only then can Node 20 keep the compiled code:
// packages/sandbridge/src/compile-cache.ts.
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Files of the core that are entries of its package.json, and not a file of a room. */
const DOORS = /[\\/]core[\\/]src[\\/](?:.*[\\/]index|parts)\.ts$/
/** A door only passes on what packages use: whoever takes one name of it loads that name's file alone. */
const LIGHT_DOORS = { moduleSideEffects: [{ test: DOORS, sideEffects: false }] }
/** For what runs before it, which old versions of Node must be able to read. */
const BEFORE_MAIN = {
  name: 'before-main',
  resolveId(id, importer) {
    if (id === './main.ts') return { id: './main.js', external: true }
    if (id.startsWith('node:')) return { id: id.slice('node:'.length), external: true }
    // It takes nothing of other packages, which may be written for newer versions.
    return importer === undefined || /^[.\0]|^@sandbridge\//.test(id) || path.isAbsolute(id)
      ? null
      : { id, external: true, moduleSideEffects: false }
  },
}

/**
 * @param {string} folder where cli.js comes with its files
 * @param {import('rolldown').Plugin[]} [plugins]
 * @returns {Promise<string[]>} the bundled files, relative to the root
 */
export async function bundleBridge(folder, plugins = []) {
  const inputs = await bundle({
    plugins: [...plugins, RUNTIME_IN_ENTRY],
    input: { main: 'packages/sandbridge/src/main.ts' },
    platform: 'node',
    external: ['pyodide'],
    treeshake: LIGHT_DOORS,
    resolve: {
      alias: {
        ...openTelemetryModules(),
        // Its CommonJS form looks for its own files at run time, which do not exist in a bundle.
        'jsonc-parser': path.join(root, 'node_modules/jsonc-parser/lib/esm/main.js'),
        '@modelcontextprotocol/server/_shims': path.join(root, 'packages/core/src/serve/mcp/sdk-parts.ts'),
      },
    },
    transform: {
      target: 'node20.19',
      // The package sixel assigns this variable without declaring it, which strict mode forbids.
      define: { UPNG: 'globalThis.UPNG' },
    },
    output: {
      dir: folder,
      chunkFileNames: '[name]-[hash].js',
      // What every command loads is one file, with all that it uses: each further one takes time. The relay, which
      // lives longer, is another, because each kilobyte takes time, too.
      codeSplitting: {
        groups: [
          { name: 'main', test: /[\\/]sandbridge[\\/]src[\\/](?:main|first)\.ts$/ },
          { name: 'relay', test: /[\\/]resident[\\/]src[\\/]client[\\/]run-relay\.ts$/ },
        ],
      },
      // Identifiers are kept, because names of classes and functions appear in error messages and logs. Console output
      // of libraries is dropped: it would appear unredacted beside our log, such as text of an authorization server.
      minify: { compress: { dropConsole: true }, mangle: false, codegen: { removeWhitespace: true } },
    },
  })
  await bundle({
    plugins: [BEFORE_MAIN],
    input: { cli: 'packages/sandbridge/src/cli.ts' },
    platform: 'node',
    treeshake: LIGHT_DOORS,
    transform: { target: 'es2015' },
    output: { dir: folder, codeSplitting: false, minify: { compress: true, mangle: false } },
  })
  // The package as a whole consists of ES modules.
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "commonjs" }\n')
  return inputs
}

/** Puts what rolldown gives all files for their imports into the first one: another file would be loaded for it. */
const RUNTIME_IN_ENTRY = {
  name: 'runtime-in-entry',
  generateBundle(_options, files) {
    const runtime = Object.values(files).find(({ name }) => name === 'rolldown-runtime')
    const inline = `(()=>{let exports={};${runtime.code}return exports})()`
    files['main.js'].code = files['main.js'].code.replace(`require("./${runtime.fileName}")`, () => inline)
  },
}

/** @returns {Promise<string[]>} the bundled files, relative to the root */
export async function bundle({ output, ...options }) {
  const { output: files } = await build({
    ...options,
    cwd: root,
    logLevel: 'warn',
    // One package detects Node with a direct eval().
    checks: { eval: false },
    // Files that are loaded with compiled code that was kept cannot import(): see
    // packages/sandbridge/src/compile-cache.ts.
    output: { ...output, format: 'cjs', dynamicImportInCjs: false },
  })
  return files.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])).map((id) => path.relative(root, id))
}

/** Their ES modules: of their CommonJS form, nothing unused can be left out. */
function openTelemetryModules() {
  const folder = 'node_modules/@opentelemetry'
  return Object.fromEntries(
    readdirSync(path.join(root, folder))
      .map((name) => [`@opentelemetry/${name}`, path.join(root, folder, name, 'build/esm/index.js')])
      .filter(([, file]) => existsSync(file)),
  )
}
