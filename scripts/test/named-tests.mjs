// Which tests of test/ a source file's place and name say are about it.
import path from 'node:path'

/** Folders whose name is not that of the tests. */
const TESTED_BY = [
  [/\/python\/sandbridge_kernel\//, /\/test\/kernel\/cells\.test\.ts$/],
  [/\/python\/sandbox_(?:keeper|kept|pipe)\.py$/, /\/kept\/keeper-link\.test\.ts$/],
]

/** Those among `tests` that are of the package of a file, are named after it or its folder, or stand for it. */
export function namedTests(files, tests) {
  const sources = files.filter((file) => /(?:^|\/)(?:src|python|web)\//.test(file))
  const names = new Set(sources.flatMap(namesOf))
  const packages = new Set(sources.map(packageOf))
  // Most tests are of the core.
  packages.delete('packages/core')
  packages.delete(undefined)
  const standing = TESTED_BY.filter(([pattern]) => sources.some((file) => pattern.test(file))).map(([, test]) => test)
  return tests.filter(
    (test) =>
      packages.has(packageOf(test)) ||
      names.has(path.posix.basename(test, '.test.ts')) ||
      standing.some((pattern) => pattern.test(test)),
  )
}

const packageOf = (file) => /^packages\/[^/]+/.exec(file)?.[0]

/**
 * `packages/masking/src/masker.ts` → masker, masking; `packages/core/python/sandbridge_kernel/failure/line_values.py` →
 * line-values.
 */
function namesOf(file) {
  const name = path.posix
    .basename(file)
    .replace(/(?:\.test)?\.\w+$/, '')
    .replaceAll('_', '-')
  return [name, path.posix.basename(path.posix.dirname(file))]
}
