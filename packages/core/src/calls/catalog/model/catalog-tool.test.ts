import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { catalogTools, OWN_ATTRIBUTES } from './catalog-tool.ts'

it('a tool with the name of another attribute of its server in Python has a number', () => {
  const aliasesOf = (...names: string[]) =>
    catalogTools(
      's',
      's',
      names.map((name) => ({ name })),
    ).map((one) => one.alias)
  expect(aliasesOf('/tools', '_docs', 'TOOLS', '.alias', 'tools')).toEqual([
    '_tools_2',
    '_docs_2',
    'TOOLS_2',
    '_alias_2',
    'tools',
  ])
})

it('those names are the attributes that a server has in Python', () => {
  const source = readFileSync(new URL('../../../../python/sandbridge_kernel/api/servers.py', import.meta.url), 'utf8')
  const body = /^class ServerProxy:$(.*?)^class /ms.exec(source)![1]!
  const slots = /__slots__ = \((.*?)\)/.exec(body)![1]!
  const methods = [...body.matchAll(/^ {4}def (_?[a-z]\w*)/gm)].map(([, name]) => name!)
  const listings = /LISTINGS.*= \{(.*?)\}/.exec(source)![1]!
  const names = [...slots.matchAll(/"(\w+)"/g), ...listings.matchAll(/"(\w+)":/g)].map(([, name]) => name!)
  expect([...names, ...methods].toSorted()).toEqual([...OWN_ATTRIBUTES].toSorted())
})
