// Which unit tests import a file, found in the text of import statements: vitest takes ten times as long to say it.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'((?:\.|@sandbridge\/)[^']+\.ts)'/g

/** Of each file, those that import it, in the folder `copy`. */
function importersIn(copy) {
  const files = execFileSync('git', ['ls-files'], { cwd: copy, encoding: 'utf8' }).split('\n')
  const importers = new Map()
  for (const file of files.filter((name) => /(?:^|\/)src\/.*\.ts$/.test(name))) {
    for (const [, specifier] of readFileSync(path.join(copy, file), 'utf8').matchAll(IMPORT)) {
      const imported = specifier.startsWith('@')
        ? specifier.replace(/^@sandbridge\/([^/]+)/, 'packages/$1/src')
        : path.posix.join(path.posix.dirname(file), specifier)
      importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  }
  return importers
}

/** Those that import it themselves, or with `isFar` those that import it through other files only. */
export function unitTests(file, copy, isFar) {
  const importers = importersIn(copy)
  const direct = new Set(importers.get(file))
  const reached = new Set(direct)
  for (const one of reached) for (const importer of importers.get(one) ?? []) reached.add(importer)
  return [...reached].filter((one) => one.endsWith('.test.ts') && direct.has(one) !== isFar)
}
