// The command that a client starts this bridge with. It must work from where this bridge runs: only what came through npx is there for npx.
import path from 'node:path'
import type { BridgeCommand } from './targets.ts'

/**
 * @param root the folder of this package
 * @param node the program that runs it: clients that are started from a desktop have no PATH to find it by
 */
export function bridgeCommand(root: string, node: string): BridgeCommand {
  const isFromNpx = root.split(/[/\\]/).includes('_npx')
  if (isFromNpx) return { command: 'npx', args: ['-y', 'sandbridge'] }
  return { command: node, args: [path.join(root, 'dist/cli.js')] }
}
