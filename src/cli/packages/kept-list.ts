// The list of packages that `sandbridge packages` changes.
import { isPackageList, keptPackagesFile } from '../../config/settings/kept-packages.ts'
import { JsonRecord } from '../../keep/json-record.ts'

/** Requirements and paths of wheels. Reading a damaged list throws BridgeError CONFIG_INVALID. */
export function keptList(stateDir: string): JsonRecord<string[]> {
  return new JsonRecord({
    document: keptPackagesFile(stateDir),
    empty: () => [],
    parse: (json) => (isPackageList(json) ? json : undefined),
    damaged: { record: 'The list of packages', hint: 'Correct the file, or delete it and add the packages again.' },
  })
}
