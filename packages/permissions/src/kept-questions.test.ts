import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { answerQuestion, KeptQuestions, listQuestions } from './kept-questions.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const ID = '0123456789abcdef'
let stateDir: string
let file: string
beforeEach(() => {
  stateDir = newFolder()
  file = path.join(stateDir, '.sandbridge/questions', `${ID}.json`)
})

const kept = async () => {
  const questions = new KeptQuestions(stateDir, 60_000)
  return { questions, question: (await questions.keep(ID, 'May it?'))! }
}

it.each(['a named pipe', 'a folder', 'a link to nothing'])('%s in place of a question stops nobody', async (what) => {
  needsPosix('named pipes, and links of every user')
  const { questions, question } = await kept()
  // Control: the file that was kept.
  expect(await listQuestions(stateDir)).toMatchObject([{ id: ID, text: 'May it?' }])
  rmSync(file)
  if (what === 'a folder') mkdirSync(file)
  else if (what === 'a named pipe') execFileSync('mkfifo', [file])
  else symlinkSync('/nowhere', file)
  expect(await answerQuestion(stateDir, question, 'yes')).toBe(false)
  expect(await questions.take(ID)).toBeUndefined()
  expect(await listQuestions(stateDir)).toEqual([])
})

it('a question is answered in its own file only, whatever id it has', async () => {
  const { questions, question } = await kept()
  const other = path.join(stateDir, 'other.json')
  const forged = JSON.stringify({ ...question, id: '../../other' })
  writeFileSync(other, forged)
  writeFileSync(path.join(path.dirname(file), 'fedcba9876543210.json'), forged)
  expect((await listQuestions(stateDir)).map(({ id }) => id)).toEqual([ID])
  expect(await answerQuestion(stateDir, { ...question, id: '../../other' }, 'yes')).toBe(false)
  expect(readFileSync(other, 'utf8')).toBe(forged)
  // Control.
  expect(await answerQuestion(stateDir, question, 'yes')).toBe(true)
  expect(await questions.take(ID)).toBe('yes')
  expect(existsSync(file)).toBe(false)
})
