// The path of the file with sign-ins to remote servers. Pure.
import path from 'node:path'

/** @param stateFolder the bridge's or a user's */
export function tokensFile(stateFolder: string): string {
  return path.join(stateFolder, '.sandbridge', 'tokens.json')
}
