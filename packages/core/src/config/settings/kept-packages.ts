// Where the packages of cells come from: MCP_BRIDGE_PACKAGES, or else the kept list. Read at start: imports little.
import { readOrdinaryText } from '../../util/files/read-ordinary.ts'
import { parseJson } from '../../util/json/json.ts'
import { keptPackagesFile } from './state-folder.ts'
import { PACKAGE_WORD } from './sandbox.ts'
import { orUndefined } from '../../util/or-undefined.ts'

const MAX_PACKAGES = 1_000
const MAX_WORD_CHARS = 1_000

/** Whether a value is a list of requirements and paths of wheels. */
export function isPackageList(value: unknown): value is string[] {
  const isWord = (word: unknown): boolean =>
    typeof word === 'string' && word.length <= MAX_WORD_CHARS && PACKAGE_WORD.test(word)
  return Array.isArray(value) && value.length <= MAX_PACKAGES && value.every(isWord)
}

/** What sets the packages, in place of the list. */
export function listReplacedBy({ setBy }: { setBy: Readonly<Record<string, string>> }): string | undefined {
  return setBy['MCP_BRIDGE_PACKAGES']
}

/** What the user changes to have other packages: the setting, or the file of the list. */
export function packagesSource(settings: { setBy: Readonly<Record<string, string>>; stateDir: string }): string {
  return listReplacedBy(settings) ?? keptPackagesFile(settings.stateDir)
}

/** Reads the list. A damaged list counts as empty: `problem` says so. */
export function readKeptPackages(stateDir: string): { packages: readonly string[]; problem?: string } {
  const file = keptPackagesFile(stateDir)
  const text = orUndefined(() => readOrdinaryText(file))
  if (text === undefined) return { packages: [] }
  const found = parseJson(text)
  return isPackageList(found)
    ? { packages: found }
    : { packages: [], problem: `${file} is damaged and ignored. Delete it, and add the packages again.` }
}
