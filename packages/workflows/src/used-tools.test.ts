// This file verifies which tools of a workflow a name means.
import { expect, it } from 'vitest'
import { type UsedTool, usesNamed } from './used-tools.ts'

const use = (server: string, tool: string): UsedTool => ({
  server,
  tool,
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
})

it('a name that two servers share means both tools, so that a command can refuse it', () => {
  const uses = [use('a__b', 'c'), use('a', 'b__c'), use('a', 'c')]
  expect(usesNamed(uses, ['a__b__c'])).toEqual(uses.slice(0, 2))
  expect(usesNamed(uses, ['a__c'])).toEqual(uses.slice(2))
})
