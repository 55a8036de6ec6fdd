import path from 'node:path'

export function keptPackagesFile(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'packages.json')
}
