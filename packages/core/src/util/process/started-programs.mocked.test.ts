// Windows looks for a bare name in the working folder first, which may be a project of somebody else.
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fromNowhere, onWindows } from '../../../test/support/machine/simulated-windows.ts'
import { StdioProcess } from '../../isolation/local/stdio-process.ts'
import { spawnServer } from '../../upstream/stdio/server-process.ts'
import { foundProgram } from './find-program.ts'
import { groupExists, signalTree, trackGroup, untrackGroup } from './process-group.ts'
import { runCommand } from './run-command.ts'

vi.mock('node:child_process', { spy: true })

it('every kind of process on Windows is a full path, and looks for none in the working folder itself', async () => {
  const root = onWindows('podman.exe', 'npx.CMD', 'taskkill.exe')
  expect(await runCommand('podman', ['info'])).toMatchObject({ code: 0 })
  const sandbox = new StdioProcess({
    id: 'one',
    provider: 'podman',
    command: 'podman',
    args: [],
    env: { Path: root },
    explain: () => ({ reason: 'exited', detail: '' }),
  })
  await sandbox.exited
  const env = { Path: `${root};`, PATHEXT: '.EXE;.CMD' }
  const server = spawnServer({ type: 'stdio', command: 'npx', args: ['-y', 'x'], env }, { cwd: root, env: {} })
  await server.exited
  await server.end()
  expect(vi.mocked(spawn).mock.calls.map(([file]) => file)).toEqual([
    `${root}/podman.exe`,
    `${root}/podman.exe`,
    `${root}/npx.CMD`,
  ])
  for (const [, , options] of vi.mocked(spawn).mock.calls) expect(options.env).toMatchObject(fromNowhere)
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'])
  const hasExited = new Promise((resolve) => child.once('exit', resolve))
  signalTree(child, 'SIGKILL')
  await hasExited
  expect(vi.mocked(spawnSync).mock.calls[0]).toMatchObject([
    `${root}/taskkill.exe`,
    ['/T', '/F', '/pid', String(child.pid)],
    { env: fromNowhere, windowsHide: true },
  ])
})

it('on Windows, what a process has started ends before it does itself, with all that was started by that', () => {
  const root = onWindows('taskkill.exe')
  expect([groupExists(process.pid), groupExists(999_999_999)]).toEqual([true, false])
  for (const pid of [7_000_001, 7_000_002]) trackGroup(pid)
  onTestFinished(() => [7_000_001, 7_000_002].forEach(untrackGroup))
  process.listeners('exit').find((listener) => /killTreesNow/.test(String(listener)))!(0)
  const [file, args] = vi.mocked(spawnSync).mock.calls[0]!
  expect([file, args]).toEqual([`${root}/taskkill.exe`, ['/T', '/F', '/pid', '7000001', '/pid', '7000002']])
})

it('a program that is nowhere on Windows is missing, and not looked for in the working folder', async () => {
  onWindows()
  expect(await runCommand('podman', ['info'])).toMatchObject({ code: null, missing: true })
  const [file] = vi.mocked(spawn).mock.calls[0]!
  expect(file).toMatch(/^[A-Z]:\\.*\\System32\\podman$/)
})

it('a name of Windows may have its extension, and a path stays as it is', () => {
  const root = onWindows('uvx.exe', 'uvx', 'tool.cmd')
  const found = (command: string) => foundProgram(command, { Path: root }, ['.EXE', '.cmd', '.exe']).file
  // In any case, where the disk ignores it.
  expect(found('uvx')).toMatch(/[/\\]uvx\.exe$/i)
  expect(found('uvx.exe')).toBe(`${root}/uvx.exe`)
  expect(found('tool')).toBe(`${root}/tool.cmd`)
  expect(found('C:\\bin\\uvx.exe')).toBe('C:\\bin\\uvx.exe')
  expect(found('.\\uvx.exe')).toBe('.\\uvx.exe')
})

const PACKAGES = path.join(import.meta.dirname, '../../../..')
/** What never runs on Windows: bubblewrap's own programs, by their full paths. */
const LINUX_ONLY = /^(bubblewrap|jail)\/|\/outer-bubblewrap\.ts$/
const STARTERS = 'spawn|spawnSync|execFile|execFileSync|exec|execSync|fork'

/** A program with a window, which it would hide. */
const WITH_WINDOW = /^sign-in\/src\/access\/login\.ts$/

/** The starts of programs in a source that `foundProgram` has not found. */
function unsafeStarts(source: string): string[] {
  if (/from 'cross-spawn'/.test(source) && !source.includes('crossSpawn._parse(named.file')) return ['cross-spawn']
  if (!/\bnode:child_process'/.test(source)) return []
  const code = source.replaceAll(
    /^import .*$|^\s*(\/\/|\*|\/\*).*$|\{[^}\n]*\} = (require|process\.getBuiltinModule)\(.*$/gm,
    '',
  )
  const isFound = /\bfound = foundProgram\(/.test(code)
  return [...code.matchAll(new RegExp(String.raw`(?<![-'.#\w])(?:${STARTERS})\b(?:\(\s*([^,)]*))?`, 'g'))]
    .filter(
      ([, what = '']) => !/^(process\.execPath|taskkill|'\/[^']*')$/.test(what) && !(isFound && what === 'found.file'),
    )
    .map(([start]) => start)
}

it('no source starts a program that was not found by its full path, or that opens a window on Windows', () => {
  const sources = readdirSync(PACKAGES).flatMap((name) => {
    const folder = path.join(PACKAGES, name, 'src')
    const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return all.filter((file) => /(?<!\.test)\.ts$/.test(file)).map((file) => path.join(name, 'src', file))
  })
  const looked = sources.map((file) => file.replaceAll('\\', '/')).filter((file) => !LINUX_ONLY.test(file))
  const read = (file: string): string => readFileSync(path.join(PACKAGES, file), 'utf8')
  expect(looked.flatMap((file) => unsafeStarts(read(file)).map((start) => `${file}: ${start}`))).toEqual([])
  const starting = looked.filter((file) => /\b(spawn|execFile)\((found\.file|process\.execPath),/.test(read(file)))
  expect(starting.length).toBeGreaterThan(6)
  const isHidden = (file: string): boolean => WITH_WINDOW.test(file) || read(file).includes('windowsHide: true')
  expect(starting.filter((file) => !isHidden(file))).toEqual([])
})

it.each([
  ["import { spawn } from 'node:child_process'\nspawn('podman', [])", "spawn('podman'"],
  ["import { execFile } from 'node:child_process'\nconst run = promisify(execFile)", 'execFile'],
  ["const { execFile } = require('node:child_process')\nexecFile('taskkill', [])", "execFile('taskkill'"],
  ["import { spawn } from 'node:child_process'\nspawn(found.file, [])", 'spawn(found.file'],
  ["import spawn from 'cross-spawn'\nspawn(command)", 'cross-spawn'],
])('a source that starts a program by its name is seen: %s', (source, start) => {
  expect(unsafeStarts(source)).toEqual([start])
})
