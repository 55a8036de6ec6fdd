// This file verifies what a person at a terminal gets: a welcome text, a shell, and images.
import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runInTerminal, type Step } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { type ProgramResult, runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'

const FIGURE = 'type("F", (), {"_repr_png_": lambda self: b"\\x89PNG", "__repr__": lambda self: "<F>"})()'
const HISTORY = '.sandbridge/shell-history'

function inTerminal(home: string, steps: Step[], args: string[]) {
  const state = { MCP_BRIDGE_STATE_DIR: home, TERM: 'xterm', IN_TERMINAL_LIMIT: '80' }
  return runInTerminal([process.execPath, CLI, ...args], bridgeEnv(home, state), { cwd: home, steps })
}

const plain = ({ stdout }: ProgramResult): string =>
  // oxlint-disable-next-line no-control-regex
  stdout.replace(/\x1b\[[0-9;?]*[A-Za-z]|\r/g, '')

it('sandbridge at a terminal explains itself, and does not wait', async () => {
  const { code, stdout } = await inTerminal(makeHome(), [], [])
  expect(stdout).toContain('sandbridge init  ')
  expect(code).toBe(0)
})

it('a shell keeps variables, reads blocks of several lines, completes and is stopped', async () => {
  const home = makeHome()
  const steps: Step[] = [
    ['>>> ', 'number = 6\r'],
    ['>>> ', 'def double(x):\r'],
    ['... ', '    return 2 * x\r'],
    ['... ', '\r'],
    ['>>> ', 'doub\t'],
    ['double', '(number) + 100\r'],
    ['112', 'import asyncio; print("wa" + "it"); await asyncio.sleep(60)\r'],
    ['wait\r\n', '\u0003'],
    ['KeyboardInterrupt', ''],
    ['>>> ', '1 / 0\r'],
    ['ZeroDivisionError', ''],
    ['>>> ', 'begun = ['],
    ['begun = [', '\u0003'],
    ['>>> ', '\u0004'],
  ]
  const result = await inTerminal(home, steps, ['shell'])
  expect(plain(result)).toContain('112')
  expect(plain(result)).toContain('Interrupted')
  expect(result.code).toBe(0)
  const history = path.join(home, HISTORY)
  expect(readFileSync(history, 'utf8')).toContain('number = 6\ndef double(x):\n')
  expect(statSync(history).mode & 0o777).toBe(0o600)
  // The arrow key brings back an earlier line.
  const again = await inTerminal(
    home,
    [
      ['>>> ', '\u001b[A\u001b[A\u001b[A\r'],
      ['>>> ', 'exit\r'],
    ],
    ['shell'],
  )
  expect(again.code).toBe(0)
})

it('a shell needs a terminal', async () => {
  const { code, stderr } = await runProgram(process.execPath, [CLI, 'shell'], bridgeEnv(makeHome()))
  expect([code, stderr]).toEqual([2, expect.stringContaining('sandbridge exec -c CODE')])
})

it('exec saves images, overwrites none, and says where', { tags: ['whole'] }, async () => {
  const home = makeHome()
  const exec = (...args: string[]) =>
    runProgram(process.execPath, [CLI, 'exec', '-c', FIGURE, ...args], bridgeEnv(home), { cwd: home })
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47])
  expect(await exec()).toEqual({ code: 0, stdout: '<F>\n', stderr: 'Saved image-1.png\n' })
  expect((await exec()).stderr).toBe('Saved image-2.png\n')
  expect(readFileSync(path.join(home, 'image-1.png')).equals(png)).toBe(true)
  const { stdout } = await exec('--images', 'charts/new', '--json')
  expect(JSON.parse(stdout)).toEqual({ status: 'ok', value: '<F>', files: [path.join('charts/new/image-1.png')] })
  expect(existsSync(path.join(home, 'charts/new/image-1.png'))).toBe(true)
  // Windows has no /proc, and could make such a folder.
  const refused = await exec('--images', process.platform === 'win32' ? 'image-1.png/none' : '/proc/none')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--images FOLDER')])
})
