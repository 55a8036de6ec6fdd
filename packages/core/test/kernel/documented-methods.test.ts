// The methods of docs/protocol.md and their params are those that the proxy serves.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Cancellation } from '../../src/util/async/cancellation.ts'
import type { Bridge } from '../../src/bridge/bridge.ts'
import type { CellContext } from '../../src/calls/methods/method.ts'
import { serveCalls } from '../../src/calls/proxy.ts'
import { features, plugIn } from '../../src/serve/cli/package.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { readSettings } from '../../src/config/settings/settings.ts'
import { SILENT } from '../../src/util/log.ts'

plugIn(PACKAGES)

const page = readFileSync(new URL('../../../../docs/protocol.md', import.meta.url), 'utf8')

it('docs/protocol.md lists the methods that the proxy serves, with their params', async () => {
  const entries = page.slice(page.indexOf('\n## Methods\n')).matchAll(/^- \*\*`(\w+)`\*\*(.*(?:\n  .*)*)/gm)
  const methods = Object.fromEntries([...entries].map(([, name, text]) => [name!, paramsOf(text!)]))
  const unknown = await problemOf('?', {})
  const served = (unknown as { hint: string }).hint.replace('Methods: ', '').split(', ')
  expect(Object.keys(methods).toSorted()).toEqual(served.toSorted())
  for (const name of served) {
    const { asked, needed } = await askedParams(name)
    const listed = methods[name] ?? {}
    expect({ [name]: Object.keys(listed).toSorted() }).toEqual({ [name]: asked })
    for (const param of needed) expect(listed[param], `${name} needs ${param}`).toBe('required')
  }
})

/** The params of an entry: the names between `takes` and `returns`. Text in brackets explains one. */
function paramsOf(entry: string): Record<string, 'required' | 'optional'> {
  const bare = entry.replaceAll(/\s+/g, ' ').replaceAll(/\([^)]*\)/g, '')
  const [, sentence = ''] = /^ takes (.*?)(?:, and returns|\.(?: |$))/.exec(bare) ?? []
  const names = [...sentence.matchAll(/`(\w+)(\??)`/g)]
  return Object.fromEntries(names.map(([, name, optional]) => [name!, optional ? 'optional' : 'required']))
}

/** Which params a method reads, and which of them it requires: its schema parses an object that records accesses. */
async function askedParams(method: string): Promise<{ asked: string[]; needed: string[] }> {
  const asked = new Set<string>()
  const note = (key: string | symbol) => void (typeof key === 'string' && asked.add(key))
  const params = new Proxy({}, { get: (_, key) => note(key), has: (_, key) => (note(key), false) })
  const problem = await problemOf(method, params)
  const { code, message } = problem as { code?: string; message?: string }
  const needed = code === 'PROXY_ARGUMENTS_INVALID' ? [...(message ?? '').matchAll(/(?:^|; )(\w+): /g)] : []
  return { asked: [...asked].toSorted(), needed: needed.map((match) => match[1]!).filter((name) => asked.has(name)) }
}

/** What the methods of features are made of. */
const NO_BRIDGE = { settings: readSettings({}), log: SILENT, servers: {} } as unknown as Bridge

/** The error of a call without any context. */
async function problemOf(method: string, params: unknown): Promise<unknown> {
  try {
    const serve = serveCalls({} as CellContext, features.methods(NO_BRIDGE))
    return await serve({ method, params }, new Cancellation())
  } catch (error) {
    return error
  }
}
