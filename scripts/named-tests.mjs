// Which tests of test/ a source file's name says are about it.
import path from 'node:path'

/** Folders whose name is not that of the tests. */
const TESTED_BY = [
  [/(?:^|\/)python\/sandbridge_kernel\//, /(?:^|\/)test\/kernel\/cells\.test\.ts$/],
  [/(?:^|\/)(?:web|src\/serve\/page)\//, /(?:^|\/)test\/ui\/views\.test\.ts$/],
]

/** Those among `tests` that are named after one of the files or its folder, or stand for it. */
export function namedTests(files, tests) {
  const names = new Set(files.filter((file) => /(?:^|\/)(?:src|python|web)\//.test(file)).flatMap(namesOf))
  const standing = TESTED_BY.filter(([pattern]) => files.some((file) => pattern.test(file))).map(([, test]) => test)
  return tests.filter(
    (test) => names.has(path.posix.basename(test, '.test.ts')) || standing.some((pattern) => pattern.test(test)),
  )
}

/**
 * `packages/masking/src/masker.ts` → masker, masking; `packages/core/python/sandbridge_kernel/line_values.py` →
 * line-values.
 */
function namesOf(file) {
  const name = path.posix
    .basename(file)
    .replace(/(?:\.test)?\.\w+$/, '')
    .replaceAll('_', '-')
  return [name, path.posix.basename(path.posix.dirname(file))]
}
