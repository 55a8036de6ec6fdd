import { copyFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { KeptAnswers } from './kept-answers.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('answers of another folder are not given, although their file has the name of those asked for', () => {
  const cacheDir = newFolder()
  const answersIn = (cwd: string) => new KeptAnswers(cacheDir, 'key', { cwd, env: {}, home: '/home/ann', ownPaths: [] })
  const ask = (answers: KeptAnswers) => answers.find(answers.questionOf('initialize', {})!)
  const learn = (cwd: string, result: string): string => {
    const before = new Set(readdirSync(cacheDir, { recursive: true, encoding: 'utf8' }))
    const answers = answersIn(cwd)
    expect(ask(answers)).toBeUndefined()
    answers.learn(answers.questionOf('initialize', {})!, result)
    answers.keep({})
    const made = readdirSync(cacheDir, { recursive: true, encoding: 'utf8' }).find(
      (name) => name.endsWith('.json') && !before.has(name),
    )
    return path.join(cacheDir, made!)
  }
  const planted = learn('/srv/hostile', '"hostile"')
  const own = learn('/srv/own', '"own"')
  // Control: each is given to its own.
  expect([ask(answersIn('/srv/hostile')), ask(answersIn('/srv/own'))]).toEqual(['"hostile"', '"own"'])
  copyFileSync(planted, own)
  expect(ask(answersIn('/srv/own'))).toBeUndefined()
})
