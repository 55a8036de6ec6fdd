// Where other clients store their user's decisions about tools: mostly in the files that define their servers.
import type { ConfigFormat } from '../../config/formats/config-document.ts'
import {
  claudeCodeRules,
  codexRules,
  geminiCliRules,
  type Importer,
  opencodeRules,
  vscodeRules,
} from './import-rules.ts'
import { codex } from '../../config/readers/codex.ts'
import { geminiCli } from '../../config/readers/gemini-cli.ts'
import { opencode } from '../../config/readers/opencode.ts'
import { type ConfigLocation, type HostPaths, inFolderOf, inHome, type Reader } from '../../config/readers/reader.ts'
import { vscode } from '../../config/readers/vscode.ts'

interface ImportSource {
  /**
   * The files with the user's own decisions. Where these are the files that define the servers, the reader's locations
   * are used.
   */
  locations: (place: HostPaths) => ConfigLocation[]
  format: ConfigFormat
  rules: Importer
}

/** The user's own server files. */
const filesOf =
  (reader: Reader) =>
  (place: HostPaths): ConfigLocation[] =>
    reader.locations(place).filter(({ scope }) => scope === 'user')

/** By client name. Project files are not read: what they allow is not the user's decision. */
export const IMPORTS: Record<string, readonly ImportSource[]> = {
  'claude-code': [
    {
      locations: (place) => [
        inFolderOf(place, 'CLAUDE_CONFIG_DIR', 'settings.json', inHome(place, '.claude', 'settings.json')),
      ],
      format: 'jsonc',
      rules: claudeCodeRules,
    },
  ],
  codex: [{ locations: filesOf(codex), format: 'toml', rules: codexRules }],
  opencode: [{ locations: filesOf(opencode), format: 'jsonc', rules: opencodeRules }],
  'gemini-cli': [
    { locations: filesOf(geminiCli), format: 'jsonc', rules: geminiCliRules },
    {
      locations: (place) => [{ ...inHome(place, '.gemini', 'policies'), kind: 'folder' }],
      format: 'toml',
      rules: geminiCliRules,
    },
  ],
  vscode: [
    {
      locations: (place) => filesOf(vscode)(place).filter(({ path }) => path.endsWith('settings.json')),
      format: 'jsonc',
      rules: vscodeRules,
    },
  ],
}
