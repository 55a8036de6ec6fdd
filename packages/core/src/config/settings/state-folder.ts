// Finds the state folder before the settings are read, because it holds what decides who reads them.
import path from 'node:path'
import { absolutePath } from '../../util/files/absolute-path.ts'
import type { ClientContext } from './client-context.ts'

/** The folder of MCP_BRIDGE_STATE_DIR, or the standard one. */
export function stateFolder({ home, env }: Pick<ClientContext, 'home' | 'env'>): string {
  const set = env['MCP_BRIDGE_STATE_DIR']?.trim()
  return set ? absolutePath(set, home) : path.join(home, 'MCPs')
}
