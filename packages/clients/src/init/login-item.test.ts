import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { checkLoginItem } from './checks/check-entries.ts'
import { addLoginItem, removeLoginItem } from './login-item.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const BRIDGE = { command: '/opt/a b/node', args: ['/opt/50%/dist/cli.js'] }

function machine(platform: NodeJS.Platform, code = 0, stdout = '') {
  const home = newFolder()
  const commands: string[] = []
  const run = async (command: string, args: readonly string[]) => {
    commands.push([command, ...args].join(' '))
    return { code, stdout, stderr: code === 0 ? '' : 'first\nFailed to connect to bus', missing: false }
  }
  return { place: { platform, home, env: {}, run }, home, commands }
}

it.each([
  [
    'linux',
    '.config/systemd/user/sandbridge.service',
    'ExecStart="/opt/a b/node" "/opt/50%%/dist/cli.js" "start"\n',
    ['systemctl --user enable --now sandbridge.service', 'systemctl --user disable --now sandbridge.service'],
  ],
  [
    'darwin',
    'Library/LaunchAgents/io.github.sandbridge.plist',
    '<string>/opt/a b/node</string>\n    <string>/opt/50%/dist/cli.js</string>\n    <string>start</string>',
    ['launchctl load -w HOME/', 'launchctl unload -w HOME/'],
  ],
] as const)(
  'on %s, the resident is started from login on, until that is undone',
  async (platform, name, text, told) => {
    const { place, home, commands } = machine(platform)
    const file = path.join(home, name)
    expect(await removeLoginItem(place)).toBe(false)
    expect(await addLoginItem(BRIDGE, place)).toBeUndefined()
    expect(readFileSync(file, 'utf8')).toContain(text)
    expect(await removeLoginItem(place)).toBe(true)
    expect(existsSync(file)).toBe(false)
    expect(commands).toEqual(told.map((one) => (one.endsWith('HOME/') ? one.replace('HOME/', file) : one)))
  },
)

it('on Windows, a task starts the resident at logon, until that is undone', async () => {
  const { place, commands } = machine('win32')
  expect(await addLoginItem(BRIDGE, place)).toBeUndefined()
  expect(await removeLoginItem(place)).toBe(true)
  expect(commands).toEqual([
    'schtasks /create /f /sc onlogon /tn Sandbridge /tr "/opt/a b/node" "/opt/50%/dist/cli.js" "start"',
    'schtasks /delete /f /tn Sandbridge',
  ])
})

const TASK =
  '<?xml version="1.0" encoding="UTF-16"?><Command>"/gone/a &amp; b/node"</Command><Arguments>"start"</Arguments>'

it.each(['linux', 'darwin', 'win32'] as const)(
  'on %s, doctor finds a start at login whose program is gone, and writes it anew with --fix',
  async (platform) => {
    const here = { command: process.execPath, args: [] }
    const { place, commands } = machine(platform, 0, TASK)
    if (platform !== 'win32') {
      expect(await checkLoginItem(here, place)).toEqual([])
      await addLoginItem({ command: '/gone/a & b/node', args: ['/gone/50%/$1/dist/cli.js'] }, place)
    }
    const [{ message, fix } = {}] = await checkLoginItem(here, place)
    expect(message).toBe('The start at login starts /gone/a & b/node, which is gone.')
    await fix!()
    if (platform === 'win32') expect(commands.at(-1)).toContain(`"${process.execPath}" "start"`)
    else expect(await checkLoginItem(here, place)).toEqual([])
  },
)

it('where the system refuses it, nothing is left, and the reason is told', async () => {
  const { place, home } = machine('linux', 1)
  expect(await addLoginItem(BRIDGE, place)).toBe('Failed to connect to bus')
  expect(existsSync(path.join(home, '.config/systemd/user/sandbridge.service'))).toBe(false)
})
