// This file verifies that a tool that stops loading is detected, and that tools are not loaded again while nothing
// changes.
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { createLog } from '@sandbridge/core/util'
import { LoadableTools } from './loadable-tools.ts'
import type { SavedTool } from './saved-tool.ts'
import { SavedToolStore } from './saved-tool-store.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

let folder: string
let store: SavedToolStore
/** Names of the loaded tools, for each time that tools were loaded. */
let looks: string[][]
let failing: Set<string>
const warnings: string[] = []

beforeEach(() => {
  folder = newFolder()
  store = new SavedToolStore(fileStore(path.join(folder, '.sandbridge')))
  looks = []
  failing = new Set()
})

const save = (name: string, imports: string[] = [], source = `def ${name}(): pass\n`) =>
  store.save({ name, source, imports, servers: [], signature: '()', description: '', isAsync: false }, async () => {})

const findProblems = async (tools: SavedTool[]) => {
  looks.push(tools.map((tool) => tool.name))
  return new Map(tools.map(({ name }) => [name, failing.has(name) ? 'no' : undefined]))
}
const open = (options: Partial<ConstructorParameters<typeof LoadableTools>[0]> = {}) =>
  new LoadableTools({
    store,
    environment: 'one',
    file: path.join(folder, 'cache/loadable.json'),
    findProblems,
    log: createLog('warning', (line) => void warnings.push(line)),
    ...options,
  })
const names = async (tools: LoadableTools) => (await tools.list()).tools.map((tool) => tool.name)

it('a saved tool is loaded once to check it, and not again in the next bridge', async () => {
  await save('a')
  await save('b')
  const tools = open()
  expect(await Promise.all([names(tools), names(tools)])).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
  expect(await names(open())).toEqual(['a', 'b'])
  expect(looks).toEqual([['a', 'b']])
})

it('a saved tool that was just checked before it was kept is not checked again', async () => {
  const tools = open()
  await tools.remember(await save('a'))
  expect(await names(tools)).toEqual(['a'])
  expect(looks).toEqual([])
})

it('a saved tool that does not load is named, and tried again in the next bridge only', async () => {
  await save('good')
  await save('bad')
  failing.add('bad')
  const tools = open()
  const expected = { tools: [{ name: 'good' }], broken: [{ name: 'bad', version: 1, problem: 'no' }] }
  expect(await tools.list()).toMatchObject(expected)
  expect(await tools.list()).toMatchObject(expected)
  failing.clear()
  expect(await names(open())).toEqual(['bad', 'good'])
  expect(looks).toEqual([['bad', 'good'], ['bad']])
})

it('a saved tool is checked again when the environment, the tool, or one that it imports has changed', async () => {
  await save('base')
  await save('middle', ['from user_tools import base'])
  await save('top', ['from user_tools import middle'])
  await save('apart')
  await names(open())
  await names(open({ environment: 'two' }))
  await save('base', [], 'def base(): return 2\n')
  await names(open())
  await store.remove('base')
  await names(open())
  const all = ['apart', 'base', 'middle', 'top']
  expect(looks).toEqual([all, all, ['base', 'middle', 'top'], ['middle', 'top']])
})

it('saved tools are all listed when there is no sandbox to check them in, and checked when there is', async () => {
  await save('a')
  let hasSandbox = false
  const tools = open({
    findProblems: async (unknown) => {
      if (hasSandbox) return findProblems(unknown)
      throw new BridgeError('SANDBOX_START_FAILED', 'no engine')
    },
  })
  expect(await names(tools)).toEqual(['a'])
  expect(warnings.join()).toMatch(/could not be checked/)
  hasSandbox = true
  failing.add('a')
  expect(await names(tools)).toEqual([])
})

it('saved tools are listed without the file of checks when that is damaged, or cannot be written', async () => {
  await save('a')
  writeFileSync(path.join(folder, 'cache'), 'no folder')
  expect(await names(open())).toEqual(['a'])
  rmSync(path.join(folder, 'cache'))
  await names(open())
  writeFileSync(path.join(folder, 'cache/loadable.json'), '[1, {"a":')
  expect(await names(open())).toEqual(['a'])
  expect(looks).toHaveLength(3)
})
