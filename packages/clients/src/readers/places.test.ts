// This file verifies where each reader looks for its client's files on each platform.
import { expect, it } from 'vitest'
import { type Environment, variablesOfPlaces } from '../../../core/src/config/settings/client-context.ts'
import { chosenReaders } from '../../../core/src/config/readers/index.ts'
import type { HostPaths, Reader } from '../../../core/src/config/readers/reader.ts'
import { linux, mac, windows } from '@sandbridge/core/test/support/sandboxes/host-paths.ts'

const READERS = await chosenReaders([])

function readerOf(client: string): Reader {
  const reader = READERS.find((one) => one.client === client)
  if (reader === undefined) throw new Error(`There is no reader ${client}`)
  return reader
}

const USER: Record<string, [linux: string[], mac: string[], windows: string[]]> = {
  'servers-config': [[], [], []],
  mcps: [['/home/ann/MCPs'], ['/Users/ann/MCPs'], ['C:\\Users\\ann\\MCPs']],
  'config-mcp': [
    ['/home/ann/.config/mcp/servers'],
    ['/Users/ann/.config/mcp/servers'],
    ['C:\\Users\\ann\\.config\\mcp\\servers'],
  ],
  'claude-code': [
    ['/home/ann/.claude.json', '/home/ann/.claude/claude_code_config.json'],
    [
      '/Users/ann/.claude.json',
      '/Users/ann/.claude/claude_code_config.json',
      '/Users/ann/Library/Application Support/Claude Code/claude_code_config.json',
      '/Users/ann/Library/Application Support/Claude/claude_code_config.json',
    ],
    ['C:\\Users\\ann\\.claude.json', 'C:\\Users\\ann\\.claude\\claude_code_config.json'],
  ],
  'claude-desktop': [
    ['/home/ann/.config/Claude/claude_desktop_config.json'],
    ['/Users/ann/Library/Application Support/Claude/claude_desktop_config.json'],
    [
      'C:\\Users\\ann\\AppData\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json',
      'C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    ],
  ],
  cursor: [['/home/ann/.cursor/mcp.json'], ['/Users/ann/.cursor/mcp.json'], ['C:\\Users\\ann\\.cursor\\mcp.json']],
  vscode: [
    [
      '/home/ann/.config/Code/User/mcp.json',
      '/home/ann/.config/Code/User/settings.json',
      '/home/ann/.config/Code - Insiders/User/mcp.json',
      '/home/ann/.config/Code - Insiders/User/settings.json',
    ],
    [
      '/Users/ann/Library/Application Support/Code/User/mcp.json',
      '/Users/ann/Library/Application Support/Code/User/settings.json',
      '/Users/ann/Library/Application Support/Code - Insiders/User/mcp.json',
      '/Users/ann/Library/Application Support/Code - Insiders/User/settings.json',
    ],
    [
      'C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\mcp.json',
      'C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\settings.json',
      'C:\\Users\\ann\\AppData\\Roaming\\Code - Insiders\\User\\mcp.json',
      'C:\\Users\\ann\\AppData\\Roaming\\Code - Insiders\\User\\settings.json',
    ],
  ],
  windsurf: [
    ['/home/ann/.codeium/windsurf/mcp_config.json'],
    ['/Users/ann/.codeium/windsurf/mcp_config.json'],
    ['C:\\Users\\ann\\.codeium\\windsurf\\mcp_config.json'],
  ],
  codex: [['/home/ann/.codex/config.toml'], ['/Users/ann/.codex/config.toml'], ['C:\\Users\\ann\\.codex\\config.toml']],
  'gemini-cli': [
    ['/home/ann/.gemini/settings.json', '/etc/gemini-cli/settings.json'],
    ['/Users/ann/.gemini/settings.json', '/Library/Application Support/GeminiCli/settings.json'],
    ['C:\\Users\\ann\\.gemini\\settings.json', 'C:\\ProgramData\\gemini-cli\\settings.json'],
  ],
  'qwen-code': [
    ['/home/ann/.qwen/settings.json', '/etc/qwen-code/settings.json'],
    ['/Users/ann/.qwen/settings.json', '/Library/Application Support/QwenCode/settings.json'],
    ['C:\\Users\\ann\\.qwen\\settings.json', 'C:\\ProgramData\\qwen-code\\settings.json'],
  ],
  opencode: [
    [
      '/home/ann/.config/opencode/opencode.json',
      '/home/ann/.config/opencode/opencode.jsonc',
      '/home/ann/.opencode.json',
    ],
    [
      '/Users/ann/.config/opencode/opencode.json',
      '/Users/ann/.config/opencode/opencode.jsonc',
      '/Users/ann/.opencode.json',
    ],
    [
      'C:\\Users\\ann\\.config\\opencode\\opencode.json',
      'C:\\Users\\ann\\.config\\opencode\\opencode.jsonc',
      'C:\\Users\\ann\\.opencode.json',
    ],
  ],
  zed: [
    ['/home/ann/.config/zed/settings.json'],
    ['/Users/ann/.config/zed/settings.json'],
    ['C:\\Users\\ann\\AppData\\Roaming\\Zed\\settings.json'],
  ],
  antigravity: [
    ['/home/ann/.gemini/config/mcp_config.json', '/home/ann/.gemini/antigravity/mcp_config.json'],
    ['/Users/ann/.gemini/config/mcp_config.json', '/Users/ann/.gemini/antigravity/mcp_config.json'],
    ['C:\\Users\\ann\\.gemini\\config\\mcp_config.json', 'C:\\Users\\ann\\.gemini\\antigravity\\mcp_config.json'],
  ],
  goose: [
    ['/home/ann/.config/goose/config.yaml'],
    ['/Users/ann/.config/goose/config.yaml'],
    ['C:\\Users\\ann\\AppData\\Roaming\\Block\\goose\\config\\config.yaml'],
  ],
  'copilot-cli': [
    ['/home/ann/.copilot/mcp-config.json'],
    ['/Users/ann/.copilot/mcp-config.json'],
    ['C:\\Users\\ann\\.copilot\\mcp-config.json'],
  ],
  kiro: [
    ['/home/ann/.kiro/settings/mcp.json'],
    ['/Users/ann/.kiro/settings/mcp.json'],
    ['C:\\Users\\ann\\.kiro\\settings\\mcp.json'],
  ],
  amp: [
    ['/home/ann/.config/amp/settings.json'],
    ['/Users/ann/.config/amp/settings.json'],
    ['C:\\Users\\ann\\.config\\amp\\settings.json'],
  ],
  'lm-studio': [
    ['/home/ann/.lmstudio/mcp.json'],
    ['/Users/ann/.lmstudio/mcp.json'],
    ['C:\\Users\\ann\\.lmstudio\\mcp.json'],
  ],
  continue: [
    ['/home/ann/.continue/config.yaml', '/home/ann/.continue/mcpServers'],
    ['/Users/ann/.continue/config.yaml', '/Users/ann/.continue/mcpServers'],
    ['C:\\Users\\ann\\.continue\\config.yaml', 'C:\\Users\\ann\\.continue\\mcpServers'],
  ],
  crush: [
    ['/home/ann/.config/crush/crush.json'],
    ['/Users/ann/.config/crush/crush.json'],
    ['C:\\Users\\ann\\AppData\\Local\\crush\\crush.json'],
  ],
  junie: [
    ['/home/ann/.junie/mcp/mcp.json'],
    ['/Users/ann/.junie/mcp/mcp.json'],
    ['C:\\Users\\ann\\.junie\\mcp\\mcp.json'],
  ],
  'amazon-q': [
    ['/home/ann/.aws/amazonq/mcp.json'],
    ['/Users/ann/.aws/amazonq/mcp.json'],
    ['C:\\Users\\ann\\.aws\\amazonq\\mcp.json'],
  ],
  factory: [['/home/ann/.factory/mcp.json'], ['/Users/ann/.factory/mcp.json'], ['C:\\Users\\ann\\.factory\\mcp.json']],
  warp: [['/home/ann/.warp/.mcp.json'], ['/Users/ann/.warp/.mcp.json'], ['C:\\Users\\ann\\.warp\\.mcp.json']],
  augment: [
    ['/home/ann/.augment/settings.json'],
    ['/Users/ann/.augment/settings.json'],
    ['C:\\Users\\ann\\.augment\\settings.json'],
  ],
  trae: [
    ['/home/ann/.config/Trae/User/mcp.json'],
    ['/Users/ann/Library/Application Support/Trae/User/mcp.json'],
    ['C:\\Users\\ann\\AppData\\Roaming\\Trae\\User\\mcp.json'],
  ],
  librechat: [[], [], []],
  'mcp-servers': [[], [], []],
}

const userFiles = (client: string, place: HostPaths): string[] =>
  readerOf(client)
    .locations(place)
    .filter(({ scope }) => scope === 'user')
    .map(({ path }) => path)

it.each(Object.entries(USER))('config readers read the user files of %s', (client, expected) => {
  expect([linux, mac, windows].map((place) => userFiles(client, place))).toEqual(expected)
})

it('config readers read the user files of cline', () => {
  const tail = 'User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json'
  expect(userFiles('cline', linux)).toContain(`/home/ann/.config/Code/${tail}`)
  expect(userFiles('cline', mac)).toContain(`/Users/ann/Library/Application Support/Cursor/${tail}`)
  expect(userFiles('cline', windows)).toContain(`C:\\Users\\ann\\AppData\\Roaming\\Code\\${tail.replaceAll('/', '\\')}`)
  expect(userFiles('cline', linux)).toContain('/home/ann/.cline/data/settings/cline_mcp_settings.json')
})

it('config readers read the user files of roo', () => {
  const tail = 'User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json'
  expect(userFiles('roo', linux)).toEqual(
    ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'].map(
      (editor) => `/home/ann/.config/${editor}/${tail}`,
    ),
  )
})

it.each([
  ['CLAUDE_CONFIG_DIR', 'claude-code', '/x/.claude.json'],
  ['CODEX_HOME', 'codex', '/x/config.toml'],
  ['OPENCODE_CONFIG', 'opencode', '/x'],
  ['CLINE_MCP_SETTINGS_PATH', 'cline', '/x'],
  ['COPILOT_HOME', 'copilot-cli', '/x/mcp-config.json'],
  ['GEMINI_CLI_SYSTEM_SETTINGS_PATH', 'gemini-cli', '/x'],
  ['QWEN_CODE_SYSTEM_SETTINGS_PATH', 'qwen-code', '/x'],
  ['XDG_CONFIG_HOME', 'zed', '/x/zed/settings.json'],
  ['XDG_CONFIG_HOME', 'claude-desktop', '/x/Claude/claude_desktop_config.json'],
])('config readers read the file that %s names, for %s', (variable, client, expected) => {
  expect(userFiles(client, { ...linux, env: { [variable]: '/x' } })).toContain(expected)
})

it('config readers read no variable that what is kept of their files does not depend on', () => {
  const namesRead = (read: (env: Environment) => unknown): string[] => {
    const names = new Set<string>()
    read(new Proxy({}, { get: (_env, name) => void names.add(String(name)) }))
    return [...names].toSorted()
  }
  const byReaders = namesRead((env) =>
    [linux, mac, windows].flatMap((place) => READERS.map((reader) => reader.locations({ ...place, env }))),
  )
  expect(byReaders).toContain('CLAUDE_CONFIG_DIR')
  expect(namesRead(variablesOfPlaces)).toEqual(byReaders)
})

it('config readers look for files of a project in the current directory only', () => {
  const files = READERS.flatMap((reader) => reader.locations(linux)).filter(({ scope }) => scope === 'project')
  expect(files.map(({ path }) => path.slice('/home/ann/app/'.length))).toEqual([
    '.mcp.json',
    '.claude/claude_code_config.json',
    'claude_code_config.json',
    'claude_desktop_config.json',
    '.cursor/mcp.json',
    '.vscode/mcp.json',
    '.vscode/settings.json',
    '.codex/config.toml',
    '.gemini/settings.json',
    'opencode.json',
    'opencode.jsonc',
    '.opencode/opencode.json',
    '.opencode/opencode.jsonc',
    '.zed/settings.json',
    '.github/mcp.json',
    '.kiro/settings/mcp.json',
    '.amp/settings.json',
    '.qwen/settings.json',
    '.continue/mcpServers',
    '.crush.json',
    'crush.json',
    '.roo/mcp.json',
    '.junie/mcp/mcp.json',
    '.amazonq/mcp.json',
    '.factory/mcp.json',
    '.warp/.mcp.json',
    '.augment/settings.local.json',
    '.augment/settings.json',
    '.trae/mcp.json',
    'librechat.yaml',
    'mcp-servers',
  ])
  expect(files.every(({ path }) => path.startsWith('/home/ann/app/'))).toBe(true)
})
