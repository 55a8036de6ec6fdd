import { rmdirSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { processContext } from '../../../core/src/config/settings/client-context.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { relay } from './run-relay.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('leaves it to the command to say that its folder was removed', async () => {
  needsPosix('Windows removes no folder that a process is in')
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  const folder = newFolder()
  process.chdir(folder)
  rmdirSync(folder)
  const said: unknown[] = []
  await relay(async () => {
    try {
      processContext()
    } catch (error) {
      said.push(error)
    }
  })
  expect(said).toEqual([new Error('The current folder was removed. Change to another folder and try again.')])
})
