// Starts the resident bridge at login, so that no client is the first: a systemd user unit, a launchd agent or a
// scheduled task. The file or the task is the whole record: undoing removes it.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type CommandResult, runCommand } from '@sandbridge/core/util/process'
import { lastLine } from '@sandbridge/core/util/text'
import type { BridgeCommand } from './plan/targets.ts'

/** Of the resident with its code loaded. A waiting sandbox comes on top, until an hour has passed without clients. */
export const IDLE_MEGABYTES = 120

const UNIT = 'sandbridge.service'
const LABEL = 'io.github.sandbridge'
const TASK = 'Sandbridge'

export interface Machine {
  platform: NodeJS.Platform
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** Replaced in tests, to simulate other machines. */
  run?: (command: string, args: readonly string[]) => Promise<CommandResult>
}

interface LoginItem {
  /** Missing for a scheduled task, which Windows keeps, and shows. */
  file?: { path: string; text: (command: readonly string[]) => string }
  show?: [command: string, ...args: string[]]
  add: (command: readonly string[]) => string[]
  remove: string[]
}

function loginItem({ platform, home, env }: Machine): LoginItem {
  if (platform === 'win32')
    return {
      add: (command) =>
        ['schtasks', '/create', '/f', '/sc', 'onlogon', '/tn', TASK, '/tr'].concat(
          command.map((word) => `"${word}"`).join(' '),
        ),
      remove: ['schtasks', '/delete', '/f', '/tn', TASK],
      show: ['schtasks', '/query', '/xml', '/tn', TASK],
    }
  if (platform === 'darwin') {
    const file = path.join(home, 'Library/LaunchAgents', `${LABEL}.plist`)
    return {
      file: { path: file, text: agent },
      add: () => ['launchctl', 'load', '-w', file],
      remove: ['launchctl', 'unload', '-w', file],
    }
  }
  const folder = path.join(env['XDG_CONFIG_HOME'] ?? path.join(home, '.config'), 'systemd/user')
  return {
    file: { path: path.join(folder, UNIT), text: unit },
    add: () => ['systemctl', '--user', 'enable', '--now', UNIT],
    remove: ['systemctl', '--user', 'disable', '--now', UNIT],
  }
}

/** @returns why it could not be added; undefined when it was. Nothing of it is left then. */
export async function addLoginItem(bridge: BridgeCommand, machine: Machine): Promise<string | undefined> {
  const { file, add } = loginItem(machine)
  const command = [bridge.command, ...bridge.args, 'start']
  try {
    if (file) {
      await mkdir(path.dirname(file.path), { recursive: true })
      await writeFile(file.path, file.text(command))
    }
  } catch (error) {
    return (error as Error).message
  }
  const reason = await tell(machine, add(command))
  if (reason !== undefined && file) await rm(file.path, { force: true })
  return reason
}

/** @returns whether there was one */
export async function removeLoginItem(machine: Machine): Promise<boolean> {
  const { file, remove } = loginItem(machine)
  if (file && !existsSync(file.path)) return false
  const reason = await tell(machine, remove)
  if (file) await rm(file.path, { force: true })
  return file !== undefined || reason === undefined
}

/** @returns the words of its command, among others that are no paths; none without one */
export async function loginItemWords(machine: Machine): Promise<string[]> {
  const { file, show: [command, ...args] = [] } = loginItem(machine)
  const { run = runCommand, platform } = machine
  const text = file
    ? await readFile(file.path, 'utf8').catch(() => '')
    : await run(command!, args).then(({ stdout }) => stdout)
  const words = text.replaceAll('&quot;', '"').matchAll(/"((?:\\.|[^"\\])*)"|<string>([^<]*)</g)
  return [...words].map(([, word, ofAgent]) => (platform === 'linux' ? unquoted(word!) : unescaped(word ?? ofAgent!)))
}

async function tell({ run = runCommand }: Machine, [command = '', ...args]: string[]): Promise<string | undefined> {
  const { code, stdout, stderr } = await run(command, args)
  return code === 0 ? undefined : (lastLine(stderr || stdout) ?? `${command} does not work`)
}

/** What it starts lives on when it has exited. */
function unit(command: readonly string[]): string {
  return `[Unit]
Description=Sandbridge, one bridge for all MCP clients

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${command.map((word) => quoted(word.replaceAll('%', '%%').replaceAll('$', '$$$$'))).join(' ')}

[Install]
WantedBy=default.target
`
}

function agent(command: readonly string[]): string {
  const words = command.map((word) => `    <string>${escaped(word)}</string>`).join('\n')
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>AbandonProcessGroup</key>
  <true/>
</dict>
</plist>
`
}

const quoted = (word: string): string => `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
const unescaped = (word: string): string =>
  word.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
const unquoted = (word: string): string => word.replaceAll(/\\(.)|(%)%|(\$)\$/g, '$1$2$3')
const escaped = (word: string): string => word.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
