// Puts a finished build in the place of an earlier one while programs run from it: at no moment is a file missing or
// half written.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * Moves each file of `built` into `folder` and removes `built`. Files that did not change are left alone.
 * @param last the file that names all others
 * @param keepMs how long files of earlier builds stay: a program of such a build loads some of its files late
 */
export function replaceFolder(built, folder, { last, keepMs }) {
  const files = filesIn(built)
  for (const file of [...files.filter((one) => one !== last), last]) {
    const [from, to] = [path.join(built, file), path.join(folder, file)]
    if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) continue
    mkdirSync(path.dirname(to), { recursive: true })
    renameSync(from, to)
  }
  rmSync(built, { recursive: true })
  const current = new Set(files)
  for (const file of filesIn(folder).filter((one) => !current.has(one))) {
    const place = path.join(folder, file)
    if (Date.now() - statSync(place).mtimeMs >= keepMs) rmSync(place)
  }
}

/** Paths of all files below a folder, relative to it. */
function filesIn(folder) {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
}
