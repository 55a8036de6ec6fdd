// Decides, before anything else is loaded, what this process is to the user's resident bridge.
import { readFileSync } from 'node:fs'

/** Commands that a resident can run: they use its servers and sandboxes, or show what it does. */
export const RESIDENT_COMMANDS: ReadonlySet<string> = new Set(
  'exec shell ui top log servers search tools approve'.split(' '),
)

/** The variable decides, `on` or `off`, in any of the words of a switch. It may say more: `on idle=60`. */
const SAYS_OFF = /(?<![^\s"']|=\s*)(?:off|false|no|n|0)(?![^\s"'])/i
export const SAYS_ON_OR_OFF = /(?<![^\s"']|=\s*)(?:o(?:n|ff)|true|false|y(?:es)?|no?|[01])(?![^\s"'])/i

/** A relay is `run` over stdio. Both are only where a resident can be had. */
export function residentRole(): 'relay' | 'command' | undefined {
  if (whyNoResident() !== undefined) return undefined
  const words = process.argv.slice(2)
  // Without a word, a person at a terminal is told what there is.
  if (words.length === 0) return process.stdin.isTTY && process.stdout.isTTY ? undefined : 'relay'
  if (words[0] === 'run' && (words.length === 1 || (words.length === 3 && words[1] === '--tools'))) {
    // As its variable, which is of one client.
    if (words[2] !== undefined) process.env['MCP_BRIDGE_TOOLS'] = words[2]
    return 'relay'
  }
  // With -v, its user wants to see the log of a bridge.
  const isVerbose = words.includes('-v') || words.includes('--verbose')
  return RESIDENT_COMMANDS.has(words[0]!) && !isVerbose ? 'command' : undefined
}

/** Why this process neither starts nor uses a resident, as far as can be told without reading settings.json. */
export function whyNoResident(): string | undefined {
  const { MCP_BRIDGE_RESIDENT = '', CI = '' } = process.env
  // A CI job ends with all its processes.
  if (CI.trim() !== '') return 'CI is set'
  if (SAYS_OFF.test(MCP_BRIDGE_RESIDENT)) return 'MCP_BRIDGE_RESIDENT is off'
  if (SAYS_ON_OR_OFF.test(MCP_BRIDGE_RESIDENT)) return undefined
  if (process.platform === 'win32') return 'this is Windows, and MCP_BRIDGE_RESIDENT is not set to on'
  if (!isConfined()) return undefined
  return 'this is a sandbox or a container, and MCP_BRIDGE_RESIDENT is not set to on'
}

/**
 * Whether this process runs in a sandbox or a container of Linux: with filtered system calls, or as a user of a
 * namespace. A resident there could serve only its first client, and would end with it.
 */
function isConfined(): boolean {
  if (process.platform !== 'linux') return false
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    const users = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/)
    return /^(?:Seccomp:\s*2|NoNewPrivs:\s*1)$/m.test(status) || users.join(' ') !== '0 0 4294967295'
  } catch {
    return true
  }
}
