// Bundles the bridge. It is CommonJS, because only then can Node 20 keep the compiled code:
// packages/sandbridge/src/compile-cache.ts.
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

export const root = fileURLToPath(new URL('../..', import.meta.url))

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
  const bridge = {
    plugins: [...plugins, QUICK_TO_LOAD],
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
    transform: { target: 'node20.19' },
    output: {
      dir: folder,
      chunkFileNames: '[name]-[hash].js',
      // What every start loads is one file, with all that it uses: each further one takes time. The relay, which lives
      // longer, is another, because each kilobyte takes time, too.
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
  }
  bridge.output.codeSplitting.groups.push(...(await loadedAtStart(bridge)))
  const inputs = await bundle(bridge)
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

/** What every command loads, and what a bridge loads beside it before it answers its client. */
const STARTS = {
  command: ['core/src/serve/cli/program.ts', 'sandbridge/src/packages.ts'],
  bridge: ['core/src/serve/cli/serve/run.ts'],
}

/** @returns a group for each start. Only a first build shows what of the core's doors it uses. */
async function loadedAtStart(options) {
  const files = (await build({ ...withDefaults(options), write: false })).output.filter(({ type }) => type === 'chunk')
  return Object.entries(STARTS).map(([name, entries]) => {
    const isFirst = ({ moduleIds }) => entries.some((end) => moduleIds.includes(path.join(root, 'packages', end)))
    const loaded = new Set(files.filter(isFirst))
    for (const { imports } of loaded) for (const file of files) if (imports.includes(file.fileName)) loaded.add(file)
    const modules = new Set([...loaded].flatMap((file) => file.moduleIds))
    return { name, test: (id) => modules.has(id) }
  })
}

/**
 * Puts what rolldown gives all files for their imports into the first one: another file would be loaded for it. Writes
 * other characters than ASCII as escapes: with one of them, a file takes twice the memory and longer to load.
 */
const QUICK_TO_LOAD = {
  name: 'quick-to-load',
  generateBundle(_options, files) {
    const chunks = Object.values(files).filter(({ type }) => type === 'chunk')
    const runtime = chunks.find(({ name }) => name === 'rolldown-runtime')
    const inline = `(()=>{let exports={};${runtime.code}return exports})()`
    for (const file of chunks)
      file.code = file.code
        .replace(`require("./${runtime.fileName}")`, (found) => (file.isEntry ? inline : found))
        .replace(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  },
}

/** @returns {Promise<string[]>} the bundled files, relative to the root */
export async function bundle(options) {
  const { output: files } = await build(withDefaults(options))
  return files.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])).map((id) => path.relative(root, id))
}

function withDefaults({ output, ...options }) {
  return {
    ...options,
    cwd: root,
    logLevel: 'warn',
    // One package detects Node with a direct eval().
    checks: { eval: false },
    // Files that are loaded with compiled code that was kept cannot import(): see
    // packages/sandbridge/src/compile-cache.ts.
    output: { ...output, format: 'cjs', dynamicImportInCjs: false },
  }
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
