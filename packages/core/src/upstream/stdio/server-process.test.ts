import type { ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsPosix, skip } from '../../../test/support/suite/needs.ts'
import { processContext } from '../../config/settings/client-context.ts'
import { scriptLine, spawnServer } from './server-process.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

it('a missing command is reported as such where a folder of the PATH may not be entered', async () => {
  needsPosix('Windows finds programs itself')
  if (process.getuid?.() === 0) skip('root may enter every folder')
  const locked = newFolder()
  const open = path.join(locked, 'open')
  mkdirSync(open)
  const codeOf = (command: string) =>
    spawnServer(
      { type: 'stdio', command, args: [], env: { PATH: `${locked}/none:${open}` } },
      processContext(),
    ).started.catch(({ code }: NodeJS.ErrnoException) => code)
  writeFileSync(path.join(open, 'no-program'), '', { mode: 0o644 })
  expect(await codeOf('no-program')).toBe('EACCES')
  chmodSync(locked, 0o000)
  onTestFinished(() => chmodSync(locked, 0o700))
  expect(await codeOf('no-such-command')).toBe('ENOENT')
})

it('a missing command that Windows tells of after its start is one, too', async () => {
  let child: ChildProcess | undefined
  const server = spawnServer(
    { type: 'stdio', command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60_000)'], env: {} },
    processContext(),
    undefined,
    { spawned: (started) => (child = started), end: async (ended) => void ended.kill() },
  )
  await server.started
  // As cross-spawn does there.
  const notStarted = Object.assign(new Error('spawn none ENOENT'), { code: 'ENOENT' })
  child!.emit('error', notStarted)
  expect(await server.exited).toEqual({ code: 1, signal: null, notStarted })
  await server.end()
  await server.closed
})

/** What a line of cmd.exe hands on, and whether it begins another command. */
function readByCmd(line: string): { text: string; isSplit: boolean } {
  let text = ''
  let isQuoted = false
  let isSplit = false
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    if (char === '"') isQuoted = !isQuoted
    if (char === '^' && !isQuoted) text += line[(at += 1)] ?? ''
    else {
      if (!isQuoted && /[&|<>]/.test(char)) isSplit = true
      text += char
    }
  }
  return { text, isSplit }
}

it.each([
  [['plain', 'a b', 'a&b', 'C:\\a folder\\'], '"plain" "a b" "a&b" "C:\\a folder\\\\"'],
  [['{"a":"b&c"}', 'd|e', '\\"'], String.raw`"{\"a\":\"b&c\"}" "d|e" "\\\""`],
])('a script of Windows hands on its words %j as they are, and begins no command with them', (words, handedOn) => {
  const line = scriptLine('C:/Program Files/nodejs/npx.cmd', words)
  const [, inner = ''] = /^"(.*)"$/.exec(line)!
  const first = readByCmd(inner)
  expect(first.isSplit).toBe(false)
  expect(first.text.startsWith('C:\\Program Files\\nodejs\\npx.cmd ')).toBe(true)
  const args = first.text.slice(first.text.indexOf('npx.cmd ') + 8)
  const second = readByCmd(args)
  expect(second).toEqual({ text: handedOn, isSplit: false })
})
