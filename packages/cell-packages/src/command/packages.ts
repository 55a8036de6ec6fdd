// `sandbridge packages`: adds packages that cells can import, lists and removes them. Each change is tried first: the
// sandbox of this machine installs the packages, and a fresh one imports them.
import { homedir } from 'node:os'
import path from 'node:path'
import { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { isPackageList, keptPackagesFile, listReplacedBy, loadSettings } from '@sandbridge/core/config/settings'
import { PACKAGE_WORD, packagesSource } from '@sandbridge/core/config/settings'
import type { Settings } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { forgetMissing } from '../missing-packages.ts'
import { packageName } from '@sandbridge/core/parts'
import { isPath } from '../requested-packages.ts'
import type { MissingPackage } from '@sandbridge/core/isolation'
import { count } from '@sandbridge/core/util/text'
import { SILENT } from '@sandbridge/core/util'
import { print, printEmpty, printJson, printSummary, printTable } from '@sandbridge/core/serve/cli/terminal'
import { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'
import { visible } from '@sandbridge/core/serve/cli/terminal'
import type { Cell } from '@sandbridge/core/serve/cli/terminal'
import { type ImportedPackage, tryImports } from './try-imports.ts'
import { JsonDocument } from '@sandbridge/core/util/stores'

interface Options {
  json?: boolean
}

/** What the sandbox of this machine has of the packages. */
interface Outcome {
  provider: string
  packages: readonly ImportedPackage[]
  missing: readonly MissingPackage[]
  /** With everything that the packages need. */
  totalBytes: number
  totalCount: number
  /** Memory of a sandbox that has imported them. */
  memoryBytes: number | undefined
  seconds: number
}

const NO_PACKAGES = 'No packages yet. For data: sandbridge packages add pandas matplotlib'

/** Keeps those that can be installed. Sets the exit code to 1 if another cannot, or cannot be imported. */
export async function addPackages(given: string[], { json }: Options): Promise<void> {
  const { settings, kept } = await ownList()
  for (const word of given) {
    if (!PACKAGE_WORD.test(word)) {
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${word.slice(0, 80)}' is not a package`, {
        hint: 'Name a package such as pandas or pandas>=2, a wheel file, or a folder of wheels.',
      })
    }
  }
  // A path is kept in full: bridges start in other folders.
  const added = given.map((word) => (isPath(word) ? path.resolve(word.replace(/^~(?=[/\\])/, homedir())) : word))
  const before = await kept.read()
  const outcome = await tryPackages(settings, union(before, added))
  const failed = outcome.missing.filter(({ word }) => added.includes(word) || added.some((one) => isInside(word, one)))
  const isKept = (word: string): boolean => !failed.some((one) => one.word === word)
  const good = added.filter((word) => isKept(word))
  if (good.length > 0) await kept.update((words) => replace(words, union(words, good)))
  const ending =
    good.length > 0
      ? `Kept in ${packagesSource(settings)}. Bridges that start from now on have them.`
      : 'None of them was added.'
  show(outcome, json, ending)
}

/** Removes packages from the list, by their names. */
export async function removePackages(given: string[], { json }: Options): Promise<void> {
  const { kept } = await ownList()
  const before = await kept.read()
  const isMeant = (word: string): boolean => given.some((one) => one === word || nameOf(one) === nameOf(word))
  const unknown = given.find((one) => !before.some((word) => one === word || nameOf(one) === nameOf(word)))
  if (unknown !== undefined) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `The list has no package '${unknown.slice(0, 80)}'`, {
      hint: before.length > 0 ? `It has: ${before.join(', ')}.` : NO_PACKAGES,
    })
  }
  const rest = await kept.update((words) =>
    replace(
      words,
      words.filter((word) => !isMeant(word)),
    ),
  )
  if (json) return printJson(rest)
  print(`Removed ${before.filter((word) => isMeant(word)).join(', ')}. Bridges that start from now on are without.`)
}

/** Sets the exit code to 1 when one of them is missing. */
export async function listPackages({ json }: Options): Promise<void> {
  const settings = await loadSettings()
  if (settings.packages.length === 0) return json ? printJson({ packages: [], missing: [] }) : printEmpty(NO_PACKAGES)
  const from = packagesSource(settings)
  show(await tryPackages(settings, settings.packages), json, `From ${from}.`)
}

/** @throws BridgeError CONFIG_INVALID while the setting replaces the list */
async function ownList(): Promise<{ settings: Settings; kept: ReturnType<typeof keptList> }> {
  const settings = await loadSettings()
  const replacedBy = listReplacedBy(settings)
  if (replacedBy !== undefined) {
    throw new BridgeError('CONFIG_INVALID', `${replacedBy} is set and replaces the list of packages`, {
      hint: 'Unset it, or change its value instead.',
    })
  }
  return { settings, kept: keptList(settings.stateDir) }
}

async function tryPackages(settings: Settings, words: readonly string[]): Promise<Outcome> {
  const startedAt = performance.now()
  // The user may have fixed the cause of an earlier failure.
  for (const folder of ['packages', path.join('pyodide', 'packages')])
    await forgetMissing(path.join(settings.cacheDir, folder))
  const bar = new ProgressBar(process.stderr, process.env)
  const bridge = await Bridge.open({ ...settings, packages: words, poolCount: 0, sources: [] }, SILENT, {})
  try {
    const { provider } = await bridge.findProvider(bar.listeners.onPreparing)
    await provider.prepare(bar.listeners.onPreparing)
    bar.clear()
    const { missingPackages: missing = [] } = provider
    const wanted = words.filter((word) => !missing.some((one) => one.word === word))
    const imports = await tryImports(bridge, wanted)
    return { provider: provider.name, missing, ...imports, seconds: (performance.now() - startedAt) / 1000 }
  } finally {
    bar.clear()
    await bridge.close()
  }
}

function show(outcome: Outcome, json: boolean | undefined, ending: string): void {
  const { provider, packages, missing, totalBytes, totalCount, memoryBytes, seconds } = outcome
  if (missing.length > 0 || packages.some(({ problem }) => problem !== undefined)) process.exitCode = 1
  if (json) return printJson(outcome)
  const rows: Cell[][] = [
    ...packages.map(({ name, version, bytes, seconds: importing, problem }): Cell[] => [
      { text: name, style: 'cyan' },
      version,
      megabytes(bytes),
      problem === undefined ? `${importing.toFixed(2)} s` : { text: problem, style: 'red' },
    ]),
    ...missing.map(({ word, reason }): Cell[] => [word, { text: 'missing', style: 'red' }, '', visible(reason)]),
  ]
  printTable(rows, { head: ['PACKAGE', 'VERSION', 'SIZE', 'IMPORT'] })
  const memory = memoryBytes === undefined ? '' : ` A sandbox with all of them imported has ${megabytes(memoryBytes)}.`
  printSummary(
    `${provider}: ${count(totalCount, 'package')} with what they need, ${megabytes(totalBytes)}, in ${seconds.toFixed(1)} s.${memory} ${ending}`,
  )
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const replace = (words: string[], others: readonly string[]): void => void words.splice(0, words.length, ...others)
const union = (one: readonly string[], other: readonly string[]): string[] => [...new Set([...one, ...other])]
const isInside = (file: string, folder: string): boolean => path.dirname(file) === folder

/** The name of a package, as an index compares names. */
const nameOf = (word: string): string =>
  packageName(word)
    .replaceAll(/[-_.]+/g, '-')
    .toLowerCase()

/** Requirements and paths of wheels. Reading a damaged list throws BridgeError CONFIG_INVALID. */
function keptList(stateDir: string): JsonDocument<string[]> {
  return new JsonDocument({
    document: keptPackagesFile(stateDir),
    empty: () => [],
    parse: (json) => (isPackageList(json) ? json : undefined),
    damaged: { name: 'The list of packages', hint: 'Correct the file, or delete it and add the packages again.' },
  })
}
