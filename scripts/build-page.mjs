// Builds web/ into dist/web/: the page of `sandbridge ui`.
import path from 'node:path'
import { build } from 'vite'

/** @returns {Promise<string[]>} the files of packages that are in it, relative to the root */
export async function buildPage(root) {
  const output = await build({
    root: path.join(root, 'web'),
    configFile: false,
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: path.join(root, 'dist/web'),
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      // A picture within a style sheet would be an address that the policy of the page forbids.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  })
  const chunks = output.output.filter((one) => one.type === 'chunk')
  return chunks.flatMap(({ moduleIds }) =>
    moduleIds.filter((id) => id.includes('node_modules')).map((id) => path.relative(root, id)),
  )
}
