import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { RememberedAnswers } from './remembered-answers.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A program that reports about itself, for bridges that share a cache folder. */
function makeProgram(content = '\x7fELF, first') {
  const folder = newFolder()
  const program = path.join(folder, 'python3')
  writeFileSync(program, content, 'latin1')
  const run = vi.fn(async () => ({ code: 0, stdout: `answer ${run.mock.calls.length}`, stderr: '', missing: false }))
  const ask = async (mayKeep = true, answers = new RememberedAnswers(folder)) =>
    (await answers.ask('which version?', program, run, () => mayKeep)).stdout
  return { folder, program, run, ask }
}

it('an answer is remembered by the next bridge while the program is the same file', async () => {
  const { run, ask } = makeProgram()
  expect([await ask(), await ask(), await ask()]).toEqual(['answer 1', 'answer 1', 'answer 1'])
  expect(run).toHaveBeenCalledOnce()
})

it('a program is asked again when its file was replaced', async () => {
  const { program, ask } = makeProgram()
  await ask()
  writeFileSync(program, '\x7fELF, other', 'latin1')
  expect([await ask(), await ask()]).toEqual(['answer 2', 'answer 2'])
})

it('a script is asked every time, such as that of a version manager', async () => {
  const { ask } = makeProgram('#!/bin/sh\nexec something')
  expect([await ask(), await ask()]).toEqual(['answer 1', 'answer 2'])
})

it('an answer that may change without the program is not remembered', async () => {
  const { ask } = makeProgram()
  expect([await ask(false), await ask(), await ask()]).toEqual(['answer 1', 'answer 2', 'answer 2'])
})

it('a failure is not remembered', async () => {
  const { run, ask } = makeProgram()
  run.mockResolvedValueOnce({ code: 1, stdout: 'half an answer', stderr: '', missing: false })
  expect([await ask(), await ask(), await ask()]).toEqual(['half an answer', 'answer 2', 'answer 2'])
})

it('an answer that was forgotten is asked for and remembered anew', async () => {
  const { folder, ask } = makeProgram()
  await ask()
  const answers = new RememberedAnswers(folder)
  answers.forget()
  expect([await ask(true, answers), await ask()]).toEqual(['answer 2', 'answer 2'])
})

it('no answer is taken from a folder that other users can write to', async () => {
  needsPosix('Windows has no modes')
  const { folder, ask } = makeProgram()
  await ask()
  chmodSync(path.join(folder, 'programs'), 0o777)
  expect(await ask()).toBe('answer 2')
})

it('no answer is taken from a named pipe', async () => {
  needsPosix('named pipes of Windows are not in folders')
  const { folder, ask } = makeProgram()
  await ask()
  const file = path.join(folder, 'programs/answers.json')
  renameSync(file, `${file}.kept`)
  execFileSync('mkfifo', [file])
  spawn('sh', ['-c', 'exec cat "$0.kept" > "$0"', file], { stdio: 'ignore' })
  expect(await ask()).toBe('answer 2')
})

it.each(['{"which version?": 5}', '[]', 'not JSON', '{"which version?": {"file": "", "stdout": 1}}'])(
  'a damaged file of answers is the same as none: %s',
  async (text) => {
    const { folder, ask } = makeProgram()
    await ask()
    writeFileSync(path.join(folder, 'programs/answers.json'), text)
    expect([await ask(), await ask()]).toEqual(['answer 2', 'answer 2'])
  },
)
