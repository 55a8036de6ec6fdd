// The sections of `npm run bench`: files of bench/rows and of each package's bench/, by name. Files with one name are
// one section, so that rows can go with their package. Each exports by default a function that returns its rows.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BenchRow } from './row.ts'

const ROOT = path.join(import.meta.dirname, '..')

const ofPackages = readdirSync(path.join(ROOT, 'packages')).map((name) => `packages/${name}/bench`)
const folders = ['bench/rows', ...ofPackages].map((name) => path.join(ROOT, name)).filter((name) => existsSync(name))
const files = folders.flatMap((folder) => readdirSync(folder).map((name) => path.join(folder, name)))
const named = files.filter((file) => file.endsWith('.ts')).map((file) => [path.basename(file, '.ts'), file] as const)

/** In the order of their names. */
export const SECTIONS: readonly string[] = [...new Set(named.map(([section]) => section))].toSorted()

export const filesOf = (section: string): string[] => named.flatMap(([name, file]) => (name === section ? [file] : []))

/** Loads a section only now, so that each can be measured alone. @param kinds of sandboxes; none means all */
export async function rowsOf(section: string, kinds: string[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const file of filesOf(section)) {
    const { default: measure } = (await import(pathToFileURL(file).href)) as {
      default: (kinds: string[]) => Promise<BenchRow[]>
    }
    rows.push(...(await measure(kinds)))
  }
  return rows
}
