import path from 'node:path'

/** The list of `sandbridge packages`. */
export function keptPackagesFile(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'packages.json')
}
