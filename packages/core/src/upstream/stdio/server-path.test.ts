import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { needsPosix, needsProgram, needsRoot } from '../../../test/support/suite/needs.ts'
import { findPrograms } from '../../util/process/find-program.ts'
import { serverPath, withServerPath } from './server-path.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

const DESKTOP = '/usr/bin:/bin:/usr/sbin:/sbin'
/** No folder of a desktop's PATH. */
const NODE = '/opt/node-of-the-bridge/bin'

beforeAll(() => {
  const { execPath } = process
  process.execPath = `${NODE}/node`
  return () => void (process.execPath = execPath)
})

/** A home folder with these executable files. */
function homeWith(files: Record<string, string>): string {
  const home = realpathSync(newFolder())
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true })
    writeFileSync(path.join(home, name), text)
    chmodSync(path.join(home, name), 0o755)
  }
  return home
}

async function foldersFor(command: string, home: string, PATH: string, shell = '/bin/sh'): Promise<string[]> {
  return (await serverPath(command, { env: { PATH, SHELL: shell }, home })).split(path.delimiter)
}

it('a server gets the PATH of its client, then the folder of the Node of the bridge, then those of version managers', async () => {
  needsPosix('folders of Windows are named by variables')
  const home = homeWith({ '.volta/bin/npx': '', '.local/share/mise/shims/node': '' })
  const folders = await foldersFor('sh', home, `/opt/mine/bin:${DESKTOP}`)
  expect(folders.slice(0, 2)).toEqual(['/opt/mine/bin', '/usr/bin'])
  const after = folders.slice(folders.indexOf(NODE)).filter((one) => one.startsWith(home))
  expect(after.slice(0, 2)).toEqual([`${home}/.volta/bin`, `${home}/.local/share/mise/shims`])
  expect(folders).not.toContain(`${home}/.asdf/shims`)
})

it('an entry that sets a PATH means that one', async () => {
  const context = { env: { PATH: DESKTOP }, home: '/nowhere' }
  expect(await withServerPath({ type: 'stdio', command: 'x', args: [], env: { PATH: '/own' } }, context)).toBe(context)
})

it('the PATH of the login shell is added where the client has that of the desktop, or the command is nowhere else; the shell is asked once', async () => {
  needsPosix('Windows has no login shells')
  const profile = `echo asked >> "$HOME/asked"\necho 'Update now? [Y/n]'\nread answer\ncd /\nPATH="$HOME/my tools:$PATH"\n`
  const home = homeWith({ '.profile': profile, 'my tools/tool-of-the-user': '' })
  const own = `${home}/my tools`
  expect(await foldersFor('sh', home, `/opt/mine/bin:${DESKTOP}`)).not.toContain(own)
  expect(await foldersFor('tool-of-the-user', home, `/opt/mine/bin:${DESKTOP}`)).toContain(own)
  expect(await foldersFor('sh', home, DESKTOP)).toContain(own)
  expect(await foldersFor('tool-of-another-user', home, DESKTOP)).toContain(own)
  expect(readFileSync(path.join(home, 'asked'), 'utf8')).toBe('asked\n')
})

it('a user without an entry in the list of users, as in many containers, has servers without a login shell', async () => {
  needsRoot('only root can become a user without an entry')
  const home = homeWith({ '.volta/bin/npx': '' })
  chmodSync(home, 0o755)
  process.seteuid!(54_321)
  try {
    expect(await serverPath('sh', { env: { PATH: DESKTOP }, home })).toContain(`${home}/.volta/bin`)
  } finally {
    process.seteuid!(0)
  }
})

it.each([
  ['bash', '.bash_profile', 'PATH="$PATH:$HOME/mine"'],
  ['zsh', '.zshrc', 'path+=("$HOME/mine")'],
  ['fish', '.config/fish/config.fish', 'set -gx PATH $PATH "$HOME/mine"'],
  ['tcsh', '.cshrc', 'set path = ($path "$HOME/mine")'],
])('%s is asked as a terminal starts it', async (shell, file, text) => {
  needsProgram(shell)
  const home = homeWith({ [file]: text, 'mine/tool-of-the-user': '' })
  const [place] = findPrograms(shell)
  expect(await foldersFor('tool-of-the-user', home, DESKTOP, place)).toContain(`${home}/mine`)
})

it('a shell that does not answer, or is none, keeps no server from starting', { tags: ['whole'] }, async () => {
  needsPosix('Windows has no login shells')
  const home = homeWith({ 'bin/hangs': '#!/bin/sh\nsleep 60\n', 'bin/refuses': '#!/bin/sh\nexit 1\n' })
  for (const shell of [`${home}/bin/hangs`, `${home}/bin/refuses`, `${home}/bin/none`])
    expect(await foldersFor('sh', home, DESKTOP, shell)).toContain(NODE)
})

it('on Windows, folders of version managers are found by their variables, and no shell is asked', async () => {
  needsPosix('variables are set to folders of this system')
  const home = homeWith({ 'Local/Volta/bin/npx.exe': '', 'nodejs/npx.cmd': '', 'scoop/shims/uvx.exe': '' })
  const env = { Path: DESKTOP, LOCALAPPDATA: `${home}/Local`, NVM_SYMLINK: `${home}/nodejs`, SHELL: '/nowhere' }
  const folders = (await serverPath('npx', { env, home }, 'win32')).split(path.delimiter)
  expect(folders).toEqual(expect.arrayContaining(['/usr/bin', `${home}/Local/Volta/bin`, `${home}/nodejs`]))
  expect(folders).toContain(`${home}/scoop/shims`)
})
