// Builds web/: the page of `sandbridge ui`.
import path from 'node:path'
import { build } from 'vite'

/** @returns {Promise<string[]>} the bundled files of packages, relative to the root */
export async function buildPage(root, outDir) {
  const output = await build({
    root: path.join(root, 'packages/page/web'),
    configFile: false,
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      // An image inlined in a style sheet would be a data: URL, which the page's policy forbids.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  })
  const chunks = output.output.filter((one) => one.type === 'chunk')
  return chunks.flatMap(({ moduleIds }) =>
    moduleIds.filter((id) => id.includes('node_modules')).map((id) => path.relative(root, id)),
  )
}
