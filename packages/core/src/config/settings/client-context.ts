// What a client brings: what decides its servers, how they start, and which rules apply. One process may serve clients
// of several folders, so rooms that serve read it here and never from the process. Lint holds them to that.
import { lstatSync } from 'node:fs'
import { homedir } from 'node:os'
import { orUndefined } from '../../util/or-undefined.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface ClientContext {
  /** The variables that placeholders name, and that servers inherit. */
  env: Environment
  /** The folder that the client works in: its project's servers, trust and rules are found there. */
  cwd: string
  home: string
  /** Paths that start this bridge. An entry with one of them would start the bridge inside itself. */
  ownPaths: readonly string[]
}

const VARIABLES_OF_PLACES = (
  'APPDATA CLAUDE_CONFIG_DIR CLINE_MCP_SETTINGS_PATH CODEX_HOME COPILOT_HOME GEMINI_CLI_SYSTEM_SETTINGS_PATH ' +
  'LOCALAPPDATA OPENCODE_CONFIG QWEN_CODE_SYSTEM_SETTINGS_PATH XDG_CONFIG_HOME'
).split(' ')

/** The values of the variables that say where config files of clients are. What is kept of them is kept by these. */
export function variablesOfPlaces(env: Environment): (string | undefined)[] {
  return VARIABLES_OF_PLACES.map((name) => env[name])
}

/** The context of this process's only client or user. @throws Error where its folder was removed */
export function processContext(): ClientContext {
  return { env: process.env, cwd: currentFolder(), home: homedir(), ownPaths: process.argv.slice(1, 2) }
}

function currentFolder(): string {
  let folder: string
  try {
    folder = process.cwd()
  } catch (cause) {
    throw new Error('The current folder was removed. Change to another folder and try again.', { cause })
  }
  // Where this user may not enter it, as root's after `su`, it is no project, and no server can start in it.
  return orUndefined(() => lstatSync(`${folder}/.`)) ? folder : homedir()
}
